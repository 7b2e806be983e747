import Foundation
import HTTPTypes

/// The beginning of a request's body, as the journal shows it.
struct JournalBody: Sendable, Equatable {
    /// Most bytes that are shown.
    static let limit = 1 << 16

    /// Bytes in all.
    let count: Int
    /// Tokens are redacted; nil once the journal has no room for it.
    var content: Content?

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

    init(of request: UpstreamRequest) {
        count = request.received?.count ?? request.body.count
        let start = request.start(Self.limit)
        // A character may be cut in two at the limit.
        let cuts = count > start.count ? 0..<4 : 0..<1
        let text = cuts.lazy.compactMap { String(validating: start.dropLast($0), as: UTF8.self) }.first
        if let text, !text.utf8.contains(0) {
            content = .text(Redaction.text(text, alsoHiding: request.credentials))
        } else {
            content = .binary(start)
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

    /// The secrets of its `Authorization`.
    fileprivate var credentials: [String] {
        headers[.authorization].map { [String($0.split(separator: " ").last ?? "")] } ?? []
    }
}
