import Foundation
import HTTPTypes

/// One request that reached an upstream.
struct JournalEntry: Sendable, Equatable {
    /// From 1; starts again when the journal is cleared.
    var sequence = 0
    /// When it arrived.
    let at: Date
    let upstream: String
    let method: String
    /// With the upstream's prefix and the query; what carries a credential is redacted.
    let path: String
    /// Names in lower case, in the order of the request; what carries a credential is redacted.
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
    /// Number of its waits: several parts of a screen may wait at once, and some go on behind the response.
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

    /// The value of `X-Request-Id`.
    var requestID: String? { values(of: "x-request-id").first ?? assignedID }

    /// Why the request was sent: the number of a request in the journal of the server, or what it did by itself.
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
}

extension JournalEntry {
    /// In UTC, with milliseconds.
    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    var json: JSONValue {
        var fields = JSONObject()
        for header in headers {
            // A repeated field is shown as one list (RFC 9110 section 5.3).
            fields[header.name] = .string(fields[header.name]?.string.map { "\($0), \(header.value)" } ?? header.value)
        }
        var members: [JSONObject.Member] = [
            .init(name: "sequence", value: .integer(sequence)),
            .init(name: "at", value: .string(at.formatted(Self.timeStyle))),
            .init(name: "upstream", value: .string(upstream)), .init(name: "method", value: .string(method)),
            .init(name: "path", value: .string(path)), .init(name: "headers", value: .object(fields)),
            .init(name: "request_id", value: requestID.map { .string($0) } ?? .null),
            .init(name: "cause", value: cause), .init(name: "status", value: .integerOrNull(status)),
            .init(name: "bytes", value: .integerOrNull(bytes)),
            .init(name: "duration_ms", value: .integerOrNull(duration.map { Int(($0 * 1_000).rounded()) })),
            .init(name: "fault", value: .string(fault)), .init(name: "rule", value: .integerOrNull(rule)),
        ]
        if let body, body.count > 0 { members.append(.init(name: "body", value: body.json)) }
        return .object(JSONObject(members: members))
    }
}
