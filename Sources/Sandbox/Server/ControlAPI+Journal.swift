import HTTPTypes

extension ControlAPI {
    /// Longest that a wait may last, in milliseconds.
    static let longestWait = 60_000

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        if request.method == .delete {
            stage.journal.clear()
            return .json(.ok, ["entries": [], "count": 0])
        }
        return entries(matching: try filter(try request.parameters("upstream", "path")))
    }

    /// Returns the matching entries as soon as there are `count` of them.
    func waitForJournal(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get)
        let parameters = try request.parameters("upstream", "path", "count", "timeout_ms")
        let filter = try filter(parameters)
        let count = try parameters.integer("count", in: 1...Journal.capacity, default: 1)
        let milliseconds = try parameters.integer("timeout_ms", in: 0...Self.longestWait, default: 5_000)
        let journal = stage.journal
        let clock = clock

        let reached = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await journal.wait(for: count, matching: filter)
                return true
            }
            group.addTask {
                try await clock.sleep(for: .milliseconds(milliseconds))
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        // What came together with the timeout counts.
        guard reached || journal.entries(matching: filter).count >= count else {
            throw ControlProblem.timedOut(count: count, milliseconds: milliseconds)
        }
        return entries(matching: filter)
    }

    private func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        let upstream = parameters["upstream"].flatMap { $0.isEmpty ? nil : $0 }
        if let upstream, stage.slot(named: upstream) == nil {
            throw .invalid(field: "upstream", value: upstream, accepted: stage.slots.map { $0.upstream.name.rawValue })
        }
        return JournalFilter(upstream: upstream, pathPrefix: parameters["path"])
    }

    private func entries(matching filter: JournalFilter) -> UpstreamResponse {
        let entries = stage.journal.entries(matching: filter)
        return .json(.ok, ["entries": .array(entries.map(\.json)), "count": .integer(entries.count)])
    }
}
