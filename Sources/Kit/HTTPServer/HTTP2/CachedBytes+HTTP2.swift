import Freshness
import NIOCore
import NIOHPACK

extension CachedBytes {
    /// Returns the header block of the response with the fields that depend on the time and the request.
    func block(date: ServerDate, requestID: RequestIdentity, now: NIODeadline) -> HPACKHeaders {
        let head = fields
        var block = HPACKHeaders()
        block.reserveCapacity(head.fields.count + 1)
        block.add(name: ":status", value: head.status)
        for field in head.fields {
            switch field.value {
            case .fixed(let value):
                block.add(name: field.name, value: value)
            case .date:
                block.add(name: field.name, value: date.text)
            // Never the same again: the table of the client would lose others for it.
            case .requestID:
                block.add(name: field.name, value: requestID.description, indexing: .nonIndexable)
            case .age:
                let age = changeToken.age.map { $0.seconds(at: now) } ?? 0
                block.add(name: field.name, value: String(age), indexing: .nonIndexable)
            case .timeToLive(let before, let after):
                let left = changeToken.age.map { $0.timeToLive(at: now) } ?? 0
                block.add(name: field.name, value: "\(before)\(left)\(after)", indexing: .nonIndexable)
            }
        }
        return block
    }
}
