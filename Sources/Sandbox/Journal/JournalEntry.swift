/// One request that reached an upstream.
struct JournalEntry: Sendable, Equatable {
    /// From 1; starts again when the journal is cleared.
    var sequence = 0
    let upstream: String
    let method: String
    /// With the upstream's prefix and the query.
    let path: String
    /// Names in lower case, in the order of the request; what carries a credential is redacted.
    let headers: [Header]
    /// The fault that was applied, in its text form.
    var fault: String
    /// Status of the response; nil while a request waits, or if it got none.
    var status: Int?

    struct Header: Sendable, Equatable {
        let name: String
        let value: String
    }

    var json: JSONValue {
        var fields = JSONObject()
        for header in headers {
            // A repeated field is shown as one list (RFC 9110 section 5.3).
            fields[header.name] = .string(fields[header.name]?.string.map { "\($0), \(header.value)" } ?? header.value)
        }
        return [
            "sequence": .integer(sequence), "upstream": .string(upstream), "method": .string(method),
            "path": .string(path),
            "headers": .object(fields), "status": .integerOrNull(status), "fault": .string(fault),
        ]
    }
}
