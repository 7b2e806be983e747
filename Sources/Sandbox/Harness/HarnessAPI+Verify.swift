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
        let compared = entries.map { (entry: $0, differences: expectation.differences(of: $0)) }
        let matching = compared.filter(\.differences.isEmpty).map(\.entry)
        guard !expectation.count.contains(matching.count) else {
            return .json(.ok, ["matched": .integer(matching.count)])
        }
        return Self.failure(expectation, matching, compared.filter { !$0.differences.isEmpty })
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

extension Expectation {
    fileprivate var text: String {
        if count.lowerBound == count.upperBound { return "exactly \(count.lowerBound)" }
        return count.upperBound == .max
            ? "at least \(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
    }
}
