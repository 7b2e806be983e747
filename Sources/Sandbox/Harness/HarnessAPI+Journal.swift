import HTTPTypes

// The journal of clients' requests.
extension HarnessAPI {
    private static let filters = [
        "route", "method", "path", "query", "header", "status", "since", "until", "request_id", "waiting",
    ]

    func journal(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get, .delete)
        if request.method == .delete {
            try request.requireNoMembers()
            front.clear()
            return .json(.ok, ["entries": [], "count": 0, "waiting": 0, "dropped": 0])
        }
        let parameters = try request.parameters(Self.filters + ["count", "limit"])
        let filter = try filter(parameters)
        let limit = try parameters.integer("limit", in: 1...Journal.capacity, default: Journal.capacity)
        return try JournalQuery.flag("count", in: parameters)
            ? .json(.ok, .object(JSONObject(members: counts(matching: filter))))
            : entries(matching: filter, limit: limit)
    }

    private func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        var filter = try JournalQuery.filter(parameters)
        filter.route = try FrontRoute.match(in: parameters, of: server.served)
        return filter
    }

    /// Returns the matching entries as soon as there are `count` of them.
    func waitForJournal(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get)
        let parameters = try request.parameters(Self.filters + ["count", "timeout_ms"])
        let filter = try filter(parameters)
        try await JournalQuery.wait(parameters, in: front.journal, matching: filter, clock)
        return entries(matching: filter)
    }

    private func entries(matching filter: JournalFilter, limit: Int = Journal.capacity) -> UpstreamResponse {
        let entries = front.journal.entries(matching: filter).suffix(limit).map(\.frontJSON)
        let members = [JSONObject.Member(name: "entries", value: .array(entries))]
        return .json(.ok, .object(JSONObject(members: members + counts(matching: filter))))
    }

    /// How many there are, and how many of them wait for an upstream now.
    private func counts(matching filter: JournalFilter) -> [JSONObject.Member] {
        let entries = front.journal.entries(matching: filter)
        return [
            .init(name: "count", value: .integer(entries.count)),
            .init(name: "waiting", value: .integer(entries.count(where: \.isWaiting))),
            .init(name: "dropped", value: .integer(front.journal.dropped)),
        ]
    }
}
