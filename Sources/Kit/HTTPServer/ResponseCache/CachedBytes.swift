import Freshness
import NIOCore
import Synchronization

/// A response that was sent, ready to be sent again.
final class CachedBytes: Sendable {
    let changeToken: ChangeToken
    let record: RequestRecord
    /// Bytes that it takes in memory, approximately.
    let cost: Int
    /// Whether its `Vary` names fields that most responses do not depend on.
    let dependsOnWholeHead: Bool
    /// Whether it depends on the server's own cookies only.
    private let isSelective: Bool

    private let headCount: Int
    private let pieces: [CachedBytesHead.Piece]
    private let divided = Mutex<CachedFields?>(nil)
    let body: ByteBuffer

    /// Takes apart the bytes of a response; nil if it cannot be repeated.
    init?(_ bytes: ByteBuffer, _ ticket: ResponseCache.Ticket) {
        guard let head = CachedBytesHead(bytes, keepsDate: ticket.keepsDate) else { return nil }
        guard ticket.changeToken.age != nil || (head.age == nil && head.timeToLive == nil) else { return nil }
        let bodyCount = bytes.readableBytes - head.count
        guard ticket.record.hasBody ? head.contentLength == bodyCount : bodyCount == 0 else { return nil }
        isSelective = ticket.isSelective
        let vary = head.vary.filter { !(ticket.isSelective && ["accept-language", "cookie"].contains($0)) }
        dependsOnWholeHead = SignificantHead.isNamed(in: vary)
        headCount = head.count
        pieces = head.pieces
        body = bytes.getSlice(at: bytes.readerIndex + head.count, length: bodyCount) ?? ByteBuffer()
        changeToken = ticket.changeToken
        record = ticket.record
        cost = bytes.capacity + head.fixed.count + 512
    }

    /// Whether it is the response to a head, of which it is known what is left: other cookies than the server's own may
    /// be credentials for the upstream of a mount.
    func isFor(_ head: SignificantHead) -> Bool { isSelective || !head.hadCookies }

    /// Largest number of bytes that ``write(to:date:requestID:now:)`` writes.
    var size: Int { headCount + body.readableBytes + 256 }

    /// The head as fields, divided at the first use.
    var fields: CachedFields {
        divided.withLock { divided in
            if let divided { return divided }
            let fields = CachedFields(pieces)
            divided = fields
            return fields
        }
    }

    /// Writes the response with the fields that depend on the time and the request.
    func write(to buffer: inout ByteBuffer, date: ServerDate, requestID: RequestIdentity, now: NIODeadline) {
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): buffer.writeBytes(bytes)
            case .date: buffer.writeString(date.text)
            case .requestID: buffer.writeIdentity(requestID)
            case .age: if let age = changeToken.age { buffer.writeDecimal(age.seconds(at: now)) }
            case .timeToLive: if let age = changeToken.age { buffer.writeDecimal(age.timeToLive(at: now)) }
            }
        }
        buffer.writeImmutableBuffer(body)
    }
}

extension ByteBuffer {
    /// Writes an identity, without allocating for one that Larder assigned.
    fileprivate mutating func writeIdentity(_ identity: RequestIdentity) {
        switch identity {
        case .wanted(let text): writeString(text)
        case .assigned(let number):
            writeString(number.run)
            writeString("-")
            writeDecimal(number.number)
        }
    }

    /// Writes a number in decimal digits, without allocating.
    fileprivate mutating func writeDecimal(_ number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number.magnitude
            var place = 20
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0, place > 0 {
                place -= 1
                digits[place] = UInt8(ascii: "-")
            }
            writeBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(digits)[place...]))
        }
    }
}
