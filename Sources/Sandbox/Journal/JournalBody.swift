import Foundation
import HTTPTypes

/// The beginning of a request's body, as the journal shows it.
struct JournalBody: Sendable, Equatable {
    /// Most bytes that are shown.
    static let limit = 1 << 16
    /// Bytes that are searched for secrets: one may go on where the shown ones end.
    static let readLimit = limit + 4_096

    /// Bytes in all.
    let count: Int
    /// Without its secrets and its content coding. Nil once the journal has no room for it, and if the coding is
    /// unknown.
    var content: Content?
    /// Whether all of it is shown.
    let isWhole: Bool

    enum Content: Sendable, Equatable {
        case text(String)
        case binary([UInt8])

        var size: Int {
            switch self {
            case .text(let text): text.utf8.count
            case .binary(let bytes): bytes.count
            }
        }
    }

    init(of request: UpstreamRequest, _ cleaner: SecretCleaner) {
        let count = request.received?.count ?? request.body.count
        self.init(request.start(Self.readLimit), of: count, request.headers, cleaner)
    }

    /// - Parameter start: At most ``readLimit`` bytes of the body.
    init(_ start: [UInt8], of count: Int, _ fields: HTTPFields, _ cleaner: SecretCleaner) {
        self.count = count
        let isCut = count > start.count
        guard let whole = ContentCoding.decoded(start, fields, atMost: Self.readLimit, isStart: true) else {
            isWhole = false
            return
        }
        isWhole = !isCut && whole.count <= Self.limit
        // A character may be cut in two at the limit.
        let lengths = (0..<(isCut || whole.count == Self.readLimit ? 4 : 1)).map { whole.count - $0 }
        let form = BodyForm(ofRequest: fields)
        let text = lengths.lazy.compactMap { String(validating: whole.prefix($0), as: UTF8.self) }.first
        let cleaned = text.map { cleaner.body(Array($0.utf8), form) } ?? cleaner.body(whole, form)
        let shown = cleaned.prefix(Self.limit)
        if let text, !text.utf8.contains(0) {
            content = .text(String(decoding: shown, as: UTF8.self))
        } else {
            content = .binary(Array(shown))
        }
    }

    var json: JSONValue {
        var members: [JSONObject.Member] = [.init(name: "bytes", value: .integer(count))]
        switch content {
        case .text(let text): members.append(.init(name: "text", value: .string(text)))
        case .binary(let bytes):
            members.append(.init(name: "base64", value: .string(Data(bytes).base64EncodedString())))
        case nil: break
        }
        return .object(JSONObject(members: members))
    }
}

extension UpstreamRequest {
    /// Returns at most that many bytes from the start of the body.
    func start(_ limit: Int) -> [UInt8] {
        guard let source = received?.source else { return Array(body.prefix(limit)) }
        // A file of this process that cannot be read has nothing to show.
        return (try? source.bytes(in: 0..<min(limit, source.count))) ?? []
    }
}
