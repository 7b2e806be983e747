import HTTPTypes

extension ControlAPI {
    private static let filters = [
        "upstream", "route", "method", "path", "query", "header", "status", "since", "until", "request_id",
    ]

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        if request.method == .delete {
            _ = try request.parameters()
            stage.journal.clear()
            for slot in stage.slots { slot.gate.forgetSequences() }
            return .json(.ok, ["entries": [], "count": 0, "dropped": 0])
        }
        let parameters = try request.parameters(Self.filters + ["count", "limit"])
        let filter = try filter(parameters)
        let isCount = try JournalQuery.flag("count", in: parameters)
        let limit = try parameters.integer("limit", in: 1...Journal.capacity, default: Journal.capacity)
        return isCount
            ? .json(.ok, ["count": .integer(stage.journal.entries(matching: filter).count), "dropped": dropped])
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
            [
                "entries": .array(entries.suffix(limit).map(\.json)), "count": .integer(entries.count),
                "dropped": dropped,
            ]
        )
    }

    private var dropped: JSONValue { .integer(stage.journal.dropped) }

    /// Returns what chooses the requests that those of clients to a route have caused; nil if the query names none.
    private func cause(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter.Cause? {
        guard let text = parameters["route"], !text.isEmpty else { return nil }
        guard let harness else {
            throw .invalid(field: "route", value: text, accepted: ["nothing: this sandbox has no server"])
        }
        return try FrontRoute.match(in: parameters, of: harness.served).map {
            JournalFilter.Cause(route: $0, journal: harness.front.journal)
        }
    }

    private func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        var filter = try JournalQuery.filter(parameters)
        filter.cause = try cause(parameters)
        if let upstream = filter.upstream, stage.slot(named: upstream) == nil {
            throw .invalid(field: "upstream", value: upstream, accepted: stage.slots.map { $0.upstream.name })
        }
        return filter
    }
}
