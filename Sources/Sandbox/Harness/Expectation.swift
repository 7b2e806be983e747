/// How many requests of a journal are to match, and how.
struct Expectation: Sendable {
    let match: RequestMatch
    let status: Int?
    let count: ClosedRange<Int>
    /// The upstream whose journal is meant; nil for the server's own.
    let upstream: String?

    /// Reads `{"match":{…},"status":200,"upstream":"spacex","exactly":1}`, with `at_least` and `at_most` in place of
    /// `exactly`; without any of them at least one is expected.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "match", "status", "upstream", "exactly", "at_least", "at_most")
        match = try RequestMatch(fields.required("match", fields["match"]))
        status = try fields.integer("status", in: 100...999)
        upstream = try fields.text("upstream")
        let numbers = 0...Journal.capacity
        if let exactly = try fields.integer("exactly", in: numbers) {
            guard fields["at_least"] == nil, fields["at_most"] == nil else {
                throw .invalid(field: "exactly", value: "\(exactly)", accepted: ["exactly, or at_least and at_most"])
            }
            count = exactly...exactly
            return
        }
        let most = try fields.integer("at_most", in: numbers)
        let least = try fields.integer("at_least", in: numbers) ?? (most == nil ? 1 : 0)
        guard least <= most ?? .max else {
            throw .invalid(field: "at_most", value: "\(most ?? 0)", accepted: ["at least at_least, \(least)"])
        }
        count = least...(most ?? .max)
    }

    /// Returns in what an entry differs from what is expected; nothing for one that matches.
    func differences(of entry: JournalEntry) -> [Difference] {
        let target = RequestTarget(entry.path)
        let prefix = upstream == nil ? 0 : 1
        var found = match.differences(
            from: MatchedRequest(
                method: entry.method,
                path: Array(target.segments.dropFirst(prefix)),
                query: target.query
            ),
            header: { entry.values(of: $0) },
            body: entry.body?.text,
            shown: entry.body?.start ?? ""
        )
        if let status, status != entry.status {
            found.append(Difference("status", "\(status)", entry.status.map { "\($0)" } ?? "none"))
        }
        return found
    }
}

extension JournalBody {
    fileprivate var text: String? {
        if case .text(let text)? = content { text } else { nil }
    }

    fileprivate var start: String {
        if case .text(let text)? = content { String(text.prefix(200)) } else { "\(count) bytes" }
    }
}
