package import HTTPTypes

/// The response that is made of a stored one: a head, and which bytes of the stored body. RFC 9111 §4.
package struct ServedResponse: Sendable, Equatable {
    /// Which bytes of the stored body follow.
    package enum Body: Sendable, Equatable {
        case none
        case whole
        /// These bytes, positions counted from 0.
        case part(ClosedRange<Int>)
    }

    package var head: HTTPResponse
    package var body: Body

    /// Fields that a 304 has if the 200 would have them. RFC 9110 §15.4.5.
    private static let notModifiedFields: Set<HTTPField.Name> = [
        .cacheControl, .contentLocation, .date, .eTag, .expires, .vary,
    ]

    /// Creates the response to a GET or HEAD: evaluates its preconditions (RFC 9111 §4.3.2) and its range (RFC 9110
    /// §14.2), in this order (§13.2.2).
    /// - Parameters:
    ///   - request: the request.
    ///   - stored: the stored response that was selected.
    ///   - age: age of the stored response in seconds; always sent (RFC 9111 §4).
    ///   - bodyLength: bytes of the stored body.
    package init(to request: HTTPRequest, from stored: CachedResponseHead, age: Int, bodyLength: Int) {
        var fields = stored.headerFields
        fields[.age] = String(age)
        if stored.isNotModified(for: request.headerFields) {
            self.init(head: HTTPResponse(status: .notModified, headerFields: Self.notModified(fields)), body: .none)
            return
        }
        // RFC 9110 §6.4.1, §8.6: these have neither a body nor a length.
        let isBodiless = stored.status == .noContent || stored.status.code == 304
        if !isBodiless { fields[.contentLength] = String(bodyLength) }
        // RFC 9110 §9.3.2: HEAD has the head of GET; §14.2: Range is for GET only.
        if request.method == .head {
            self.init(head: HTTPResponse(status: stored.wholeStatus, headerFields: fields), body: .none)
            return
        }
        let isRangeable = stored.wholeStatus == .ok && stored.allowsRange(for: request.headerFields)
        switch isRangeable ? ByteRange(request.headerFields, length: bodyLength) : .whole {
        case .whole:
            self.init(
                head: HTTPResponse(status: stored.wholeStatus, headerFields: fields),
                body: isBodiless ? .none : .whole
            )
        case .part(let range): self.init(range, of: bodyLength, fields)
        case .notSatisfiable: self.init(notSatisfiableFor: bodyLength, fields)
        }
    }

    /// Creates a 206. RFC 9110 §15.3.7.
    private init(_ range: ClosedRange<Int>, of bodyLength: Int, _ fields: HTTPFields) {
        var fields = fields
        fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(bodyLength)"
        fields[.contentLength] = String(range.count)
        self.init(head: HTTPResponse(status: .partialContent, headerFields: fields), body: .part(range))
    }

    /// Creates a 416. RFC 9110 §15.5.17. Fields that describe the representation do not describe this response.
    private init(notSatisfiableFor bodyLength: Int, _ fields: HTTPFields) {
        var fields = fields
        fields.removeAll {
            $0.name == .eTag || $0.name == .lastModified || $0.name.canonicalName.hasPrefix("content-")
        }
        fields[.contentRange] = "bytes */\(bodyLength)"
        fields[.contentLength] = "0"
        self.init(head: HTTPResponse(status: .rangeNotSatisfiable, headerFields: fields), body: .none)
    }

    private init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }

    /// Keeps the fields of a 304, `Age` and `Cache-Status`; the modification date only if it is the only validator.
    private static func notModified(_ fields: HTTPFields) -> HTTPFields {
        var kept = notModifiedFields.union([.age, .cacheStatus])
        if !fields.contains(.eTag) { kept.insert(.lastModified) }
        var result = fields
        result.removeAll { !kept.contains($0.name) }
        return result
    }
}

/// The failures of an upstream that permit the use of a stored response. RFC 9111 §4.2.4, §4.3.3, RFC 5861 §4.
///
/// If a failure is not covered, the error itself is the response: 502 or 504, never the stored one (RFC 9111
/// §5.2.2.2).
package struct Fallback: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// No response: not reachable, connection lost, timed out.
    package static let unreachable = Fallback(rawValue: 1)
    /// A response with 500, 502, 503 or 504, the errors of RFC 5861 §4.
    package static let serverError = Fallback(rawValue: 2)
    /// Any 5xx (RFC 9111 §4.3.3), or 429, which likewise says nothing about the resource.
    package static let anyRefusal = Fallback(rawValue: 4)

    /// Returns whether a response with this status is a failure that is covered.
    package func covers(status: Int) -> Bool {
        switch status {
        case 500, 502, 503, 504: contains(.serverError) || contains(.anyRefusal)
        case 429, 500...599: contains(.anyRefusal)
        default: false
        }
    }
}
