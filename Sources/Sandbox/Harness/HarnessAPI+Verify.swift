import HTTPTypes

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

    /// - Throws: 400 if no request that Larder has a route for, and none that there was, has the path.
    private func requireRoute(_ match: RequestMatch, _ entries: [JournalEntry]) throws(ControlProblem) {
        let path = RequestMatch(path: match.path, isWhole: match.isWhole)
        let isThere = entries.contains {
            path.matches(MatchedRequest(method: "", path: RequestTarget($0.path).segments))
        }
        if !isThere { _ = try server.served.checked(match, field: "match", value: FrontRoute.text(match)) }
    }

    /// Those that come nearest first, of equal ones the latest.
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
