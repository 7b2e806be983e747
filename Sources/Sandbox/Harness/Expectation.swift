import HTTPTypes

/// How many requests of a journal are to match, and how.
struct Expectation: Sendable {
    private(set) var match: RequestMatch
    let status: Int?
    let count: ClosedRange<Int>
    /// The upstream whose journal is meant; nil for the server's own.
    let upstream: String?

    /// Reads `{"match":{…},"status":200,"upstream":"spacex","exactly":1}`, with `at_least` and `at_most` in place of
    /// `exactly`; without any of them at least one is expected.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "match", "status", "upstream", "exactly", "at_least", "at_most")
        let upstream = try fields.text("upstream")
        let match = try RequestMatch(fields.required("match", fields["match"]), isWhole: true)
        self.match = upstream.map(match.below) ?? match
        self.upstream = upstream
        status = try fields.integer("status", in: 100...999)
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

    /// Returns the same with the secrets of what is expected hidden as those of a journal are.
    func hidden(by cleaner: SecretCleaner) -> Expectation {
        var expectation = self
        expectation.match = match.hidden(by: cleaner.comparing([:], "/"))
        return expectation
    }

    /// Whether nothing but the body of an entry differs, and that is not known: it was not read, is forgotten, or is
    /// longer than what is kept.
    func isUnknown(_ entry: JournalEntry, _ differences: [Difference]) -> Bool {
        guard match.body != nil, differences.map(\.field) == ["body"] else { return false }
        guard let body = entry.body else { return entry.announcesBody }
        return body.content == nil || !body.isWhole
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
            shown: entry.body?.start ?? (entry.announcesBody ? "not known" : "none")
        )
        if let status, status != entry.status {
            found.append(Difference("status", "\(status)", entry.status.map { "\($0)" } ?? "none"))
        }
        return found
    }
}

extension JournalEntry {
    /// Whether its fields say that it has a body.
    fileprivate var announcesBody: Bool {
        !values(of: "transfer-encoding").isEmpty || values(of: "content-length").contains { $0 != "0" }
    }
}

extension RequestMatch {
    fileprivate func hidden(by cleaner: SecretCleaner) -> RequestMatch {
        func hidden(_ named: [Named], _ value: (String, String) -> String) -> [Named] {
            named.map { item in
                guard case .equal(let text) = item.value else { return item }
                return Named(name: item.name, value: .equal(value(item.name, text)))
            }
        }
        var match = self
        match.header = hidden(header) { cleaner.value($1, ofField: $0) }
        match.query = hidden(query) { name, value in
            let item = "\(FormEncoding.encoded(name))=\(FormEncoding.encoded(value))".replacing("+", with: "%20")
            let shown = cleaner.form(item, .query)
            return RequestTarget.form(shown).first?.value ?? value
        }
        switch body {
        case .contains(let text): match.body = .contains(cleaner.body(text, .assignments))
        case .json(let value):
            let text = cleaner.body(String(decoding: value.serialized(), as: UTF8.self), .json)
            match.body = (try? JSONParser.parse(Array(text.utf8))).map { .json($0) } ?? body
        case nil: break
        }
        return match
    }
}

extension JournalBody {
    fileprivate var text: String? {
        if case .text(let text)? = content { text } else { nil }
    }

    fileprivate var start: String {
        switch content {
        case .text(let text): String(text.prefix(200))
        case .binary: "\(count) bytes"
        case nil: "not known"
        }
    }
}
