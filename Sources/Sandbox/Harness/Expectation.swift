import HTTPTypes
import JSONValues

/// The number of requests of a journal that are expected to match, and the conditions.
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
        for item in match.header where SecretName.hides(field: item.name) {
            guard case .pattern(let pattern) = item.value else { continue }
            throw .invalid(
                field: "header.\(item.name)",
                value: pattern.text,
                accepted: ["a string (the value)", "true (any value)", "false (not there)"],
                reason: "the journal hides its value"
            )
        }
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

    /// Returns the expectation with its secrets hidden in the same way as in a journal.
    func hidden(by cleaner: SecretCleaner) -> Expectation {
        var expectation = self
        expectation.match = match.hidden(by: cleaner.comparing([:], "/"))
        return expectation
    }

    /// Whether only the body differs, and the body is not known: it was not read, was removed, or is longer than the
    /// kept part.
    func isUnknown(_ entry: JournalEntry, _ differences: [Difference]) -> Bool {
        guard match.body != nil, differences.map(\.field) == ["body"] else { return false }
        guard let body = entry.body else { return entry.announcesBody }
        return body.content == nil || !body.isWhole
    }

    /// Returns the differences of an entry from the expectation; none for one that matches.
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
            let text = cleaner.body(value.json, .json)
            match.body = JSONValue(json: text.utf8).map { .json($0) } ?? body
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

// Whether the requests were those that a test expects.
extension HarnessAPI {
    /// Largest number of entries that a failure shows.
    private static let mostShown = 5

    func verify(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.post)
        _ = try request.parameters()
        let expectation = try Expectation(request.json())
        if let upstream = expectation.upstream, stage.slot(named: upstream) == nil {
            throw .invalid(field: "upstream", value: upstream, accepted: stage.slots.map { $0.upstream.name })
        }
        let journal = expectation.upstream == nil ? front.journal : stage.journal
        let entries = journal.entries(matching: JournalFilter(upstream: expectation.upstream))
        let hidden = expectation.hidden(by: journal.cleaner)
        let compared = entries.map { (entry: $0, differences: hidden.differences(of: $0)) }
        if expectation.upstream == nil { try requireRoute(expectation.match, compared.map(\.entry)) }
        let matching = compared.filter(\.differences.isEmpty).map(\.entry)
        let unknown = compared.count { hidden.isUnknown($0.entry, $0.differences) }
        let most = matching.count + unknown + journal.dropped
        if expectation.count.contains(matching.count), expectation.count.contains(most) {
            return .json(.ok, ["matched": .integer(matching.count)])
        }
        guard !expectation.count.overlaps(matching.count...most) else {
            throw .uncountable(matching.count, expectation.text, unknown: unknown, dropped: journal.dropped)
        }
        return Self.failure(expectation, matching, compared.filter { !$0.differences.isEmpty })
    }

    /// - Throws: 400 if the path is neither that of a route nor that of a recorded request.
    private func requireRoute(_ match: RequestMatch, _ entries: [JournalEntry]) throws(ControlProblem) {
        let path = RequestMatch(path: match.path, isWhole: match.isWhole, pathPattern: match.pathPattern)
        let isThere = entries.contains {
            path.matches(MatchedRequest(method: "", path: RequestTarget($0.path).segments))
        }
        guard !isThere else { return }
        _ = try server.served.checked(match, field: "match", value: FrontRoute.text(match))
        guard let pattern = match.pathPattern, match.path.isEmpty else { return }
        var beginning = match
        (beginning.path, beginning.isWhole) = pattern.beginningOfPath
        _ = try server.served.checked(beginning, field: "match", value: pattern.text)
    }

    /// Responds with the entries that differ least, sorted by their distance and then from the latest to the oldest.
    private static func failure(
        _ expectation: Expectation,
        _ matching: [JournalEntry],
        _ others: [(entry: JournalEntry, differences: [Difference])]
    ) -> UpstreamResponse {
        let sorted = others.map { (other: $0, distance: $0.differences.reduce(0) { $0 + $1.weight }) }.sorted {
            ($0.distance, $1.other.entry.sequence) < ($1.distance, $0.other.entry.sequence)
        }
        let isFront = expectation.upstream == nil
        let misses = sorted.prefix(mostShown).map { item -> JSONValue in
            [
                "entry": isFront ? item.other.entry.frontJSON : item.other.entry.json,
                "differences": .array(item.other.differences.map(\.json)),
            ]
        }
        let matched = matching.suffix(mostShown).map { isFront ? $0.frontJSON : $0.json }
        return .json(
            .expectationFailed,
            [
                "type": "urn:larder:sandbox:problem:not-verified", "title": "Not as expected", "status": 417,
                "detail": .string("\(matching.count) requests match, expected were \(expectation.text)."),
                "code": "not-verified", "matched": .integer(matching.count), "matching": .array(Array(matched)),
                "near_misses": .array(Array(misses)),
            ],
            type: "application/problem+json"
        )
    }
}

extension ControlProblem {
    fileprivate static func uncountable(_ matching: Int, _ expected: String, unknown: Int, dropped: Int)
        -> ControlProblem
    {
        let bodies = unknown == 0 ? [] : ["the bodies of \(unknown) are not known"]
        let entries = dropped == 0 ? [] : ["\(dropped) older ones are forgotten"]
        return ControlProblem(
            status: .conflict,
            code: "not-countable",
            title: "Not to be told",
            detail: "\(matching) requests match, expected were \(expected), but "
                + (bodies + entries).joined(separator: " and ")
                + ". Empty the journal before (DELETE), or expect less of the body."
        )
    }
}

extension Expectation {
    fileprivate var text: String {
        if count.lowerBound == count.upperBound { return "exactly \(count.lowerBound)" }
        return count.upperBound == .max
            ? "at least \(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
    }
}
