import Foundation
import HTTPTypes
import JSONValues

/// One request that reached an upstream.
struct JournalEntry: Sendable, Equatable {
    /// From 1; starts again when the journal is cleared.
    var sequence = 0
    /// When it arrived.
    let at: Date
    let upstream: String
    let method: String
    /// With the upstream's prefix and the query; credentials are redacted.
    let path: String
    /// Names in lower case, in the order of the request; credentials are redacted.
    let headers: [Header]
    /// The beginning of the request's body; nil if it was not read.
    var body: JournalBody?
    /// The faults that were applied, in their text form.
    var fault = ""
    /// The rule that had them.
    var rule: Int?
    /// Status of the response; nil while a request waits, or if it got none.
    var status: Int?
    /// Bytes of the response's body that were sent, or are to be sent; nil with the status.
    var bytes: Int?
    /// From its arrival until its response began; nil with the status.
    var duration: TimeInterval?
    /// Whether a request to the server that is tested waits for an upstream now.
    var isWaiting: Bool { waits > 0 && status == nil }
    /// Number of its waits. Several parts of a screen may wait at once, some of them still after the response.
    var waits = 0
    /// The identity that the server gave to a request that named none.
    var assignedID: String?

    struct Header: Sendable, Equatable {
        let name: String
        let value: String
    }

    init(_ head: HTTPRequest, upstream: String, at: Date, _ cleaner: SecretCleaner) {
        self.at = at
        self.upstream = upstream
        method = head.method.rawValue
        let target = head.path ?? "/"
        cleaner.learn(head.headerFields, target)
        path = cleaner.target(target)
        let host = head.authority.map { [Header(name: "host", value: $0)] } ?? []
        headers =
            host
            + head.headerFields.map { field in
                let name = field.name.canonicalName
                return Header(name: name, value: cleaner.value(field.value, ofField: name))
            }
    }

    var requestID: String? { values(of: "x-request-id").first ?? assignedID }

    /// Why the request was sent: the number of a request in the journal of the server, or its own activity.
    var cause: JSONValue {
        guard let text = values(of: "larder-cause").first else { return .null }
        return Int(text).map { .integer($0) } ?? .string(text)
    }

    /// The values of a field.
    /// - Parameter name: in lower case.
    func values(of name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    /// Adds the response that begins now.
    mutating func respond(_ status: Int, bytes: Int?, at now: Date) {
        self.status = status
        self.bytes = bytes
        duration = max(0, now.timeIntervalSince(at))
    }

    var json: JSONValue {
        var fields = JSONObject()
        for header in headers {
            // A repeated field is shown as one list (RFC 9110 section 5.3).
            fields[header.name] = .string(fields[header.name]?.string.map { "\($0), \(header.value)" } ?? header.value)
        }
        return .object([
            "sequence": .integer(sequence), "at": .string(at.formatted(ControlFields.timeForm)),
            "upstream": .string(upstream), "method": .string(method), "path": .string(path),
            "headers": .object(fields), "request_id": requestID.map { .string($0) } ?? .null, "cause": cause,
            "status": .integerOrNull(status), "bytes": .integerOrNull(bytes),
            "duration_ms": .integerOrNull(duration.map { Int(($0 * 1_000).rounded()) }), "fault": .string(fault),
            "rule": .integerOrNull(rule), "body": body.flatMap { $0.count > 0 ? $0.json : nil },
        ])
    }
}

/// The beginning of a request's body in the form in which the journal shows it.
struct JournalBody: Sendable, Equatable {
    /// Most bytes that are shown.
    static let limit = 1 << 16
    /// Bytes that are searched for secrets, because a secret may begin in the shown part and end after it.
    static let readLimit = limit + 4_096

    /// Bytes in all.
    let count: Int
    /// The content without its secrets and its content coding; nil if the journal has no room for it or the coding is
    /// unknown.
    var content: Content?
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
        switch content {
        case .text(let text): ["bytes": .integer(count), "text": .string(text)]
        case .binary(let bytes): ["bytes": .integer(count), "base64": .string(Data(bytes).base64EncodedString())]
        case nil: ["bytes": .integer(count)]
        }
    }
}

extension UpstreamRequest {
    /// Returns at most that many bytes from the start of the body.
    func start(_ limit: Int) -> [UInt8] {
        guard let source = received?.source else { return Array(body.prefix(limit)) }
        // A file of this process that cannot be read is shown as empty.
        return (try? source.bytes(in: 0..<min(limit, source.count))) ?? []
    }
}
