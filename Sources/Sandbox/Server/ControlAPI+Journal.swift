import HTTPTypes

extension ControlAPI {
    private static let filters = [
        "upstream", "method", "path", "query", "header", "status", "since", "until", "request_id",
    ]

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        if request.method == .delete {
            _ = try request.parameters()
            stage.journal.clear()
            for slot in stage.slots { slot.gate.forgetSequences() }
            return .json(.ok, ["entries": [], "count": 0])
        }
        let parameters = try request.parameters(Self.filters + ["route", "count", "limit"])
        var filter = try filter(parameters)
        filter.causes = try causes(parameters)
        let isCount = try JournalQuery.flag("count", in: parameters)
        let limit = try parameters.integer("limit", in: 1...Journal.capacity, default: Journal.capacity)
        return isCount
            ? .json(.ok, ["count": .integer(stage.journal.entries(matching: filter).count)])
            : entries(matching: filter, limit: limit)
    }

    /// Returns the matching entries as soon as there are `count` of them.
    func waitForJournal(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get)
        let parameters = try request.parameters(Self.filters + ["count", "timeout_ms"])
        let filter = try filter(parameters)
        try await JournalQuery.wait(parameters, in: stage.journal, matching: filter, clock)
        return entries(matching: filter)
    }

    private func entries(matching filter: JournalFilter, limit: Int = Journal.capacity) -> UpstreamResponse {
        let entries = stage.journal.entries(matching: filter)
        return .json(
            .ok,
            ["entries": .array(entries.suffix(limit).map(\.json)), "count": .integer(entries.count)]
        )
    }

    /// Returns the numbers of clients' requests to the route that the query names; nil if it names none.
    private func causes(_ parameters: [String: String]) throws(ControlProblem) -> Set<Int>? {
        guard let route = try FrontRoute.match(in: parameters) else { return nil }
        guard let harness else {
            let value = parameters["route"] ?? ""
            throw .invalid(field: "route", value: value, accepted: ["nothing: this sandbox has no server"])
        }
        var filter = JournalFilter()
        filter.route = route
        return Set(harness.front.journal.entries(matching: filter).map(\.sequence))
    }

    private func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        let filter = try JournalQuery.filter(parameters)
        if let upstream = filter.upstream, stage.slot(named: upstream) == nil {
            throw .invalid(field: "upstream", value: upstream, accepted: stage.slots.map { $0.upstream.name })
        }
        return filter
    }
}
