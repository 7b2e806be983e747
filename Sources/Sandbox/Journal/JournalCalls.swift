import HTTPTypes
import JSONValues

/// Parses the query of a journal: the conditions of entries, and the number that a call waits for.
enum JournalQuery {
    /// Longest that a wait may last, in milliseconds.
    static let longestWait = 60_000

    /// Waits until there are as many entries as the parameters `count` and `timeout_ms` say.
    static func wait(
        _ parameters: [String: String],
        in journal: Journal,
        matching filter: JournalFilter,
        _ clock: any Clock<Duration>
    ) async throws {
        let count = try parameters.integer("count", in: 1...Journal.capacity, default: 1)
        let milliseconds = try parameters.integer("timeout_ms", in: 0...longestWait, default: 5_000)
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
        // An entry that arrives together with the timeout counts.
        guard reached || journal.entries(matching: filter).count >= count else {
            throw ControlProblem.timedOut(count: count, milliseconds: milliseconds)
        }
    }

    /// Reads a filter from a query; an empty value is none.
    static func filter(_ parameters: [String: String]) throws(ControlProblem) -> JournalFilter {
        let given = parameters.filter { !$0.value.isEmpty }
        if let path = given["path"], !path.hasPrefix("/") {
            throw .invalid(field: "path", value: path, accepted: ["the beginning of a path, such as /v1/ships"])
        }
        let method = try given["method"].map { (text) throws(ControlProblem) in try RequestMatch.method(text) }
        var filter = JournalFilter(upstream: given["upstream"], method: method, pathPrefix: given["path"])
        filter.query = given["query"].map { Self.named($0, separator: "=") }
        filter.header = given["header"].map { text in
            let named = Self.named(text, separator: ":")
            return .init(name: named.name.lowercased(), value: named.value)
        }
        filter.status = try Self.status(given["status"])
        filter.since = given["since"] == nil ? nil : try given.integer("since", in: 0...Int.max, default: 0)
        filter.until = given["until"] == nil ? nil : try given.integer("until", in: 0...Int.max, default: 0)
        filter.requestID = given["request_id"]
        filter.isWaiting = given["waiting"] == nil ? nil : try Self.flag("waiting", in: given)
        return filter
    }

    /// Reads `name`, or a name and a value.
    private static func named(_ text: String, separator: Character) -> JournalFilter.Named {
        guard let index = text.firstIndex(of: separator) else { return .init(name: text.trimmed, value: nil) }
        return .init(name: String(text[..<index]).trimmed, value: String(text[text.index(after: index)...]).trimmed)
    }

    private static func status(_ text: String?) throws(ControlProblem) -> JournalFilter.Status? {
        guard let text else { return nil }
        if text == "none" { return .missing }
        guard let code = Int(text), (100...999).contains(code) else {
            throw .invalid(field: "status", value: text, accepted: ["100…999", "none (no response, or not yet)"])
        }
        return .code(code)
    }

    /// Reads `?name`, or `?name=true`.
    static func flag(_ name: String, in parameters: [String: String]) throws(ControlProblem) -> Bool {
        switch parameters[name] {
        case nil, "false": return false
        case "", "true": return true
        case .some(let text): throw .invalid(field: name, value: text, accepted: ["true", "false"])
        }
    }
}

/// The calls that read a journal.
struct JournalCalls {
    let journal: Journal
    /// Whether the entries are requests of clients, which may wait for an upstream.
    let isFront: Bool
    let clock: any Clock<Duration>
    let filter: ([String: String]) throws(ControlProblem) -> JournalFilter

    private var filters: [String] {
        let common = ["route", "method", "path", "query", "header", "status", "since", "until", "request_id"]
        return isFront ? common + ["waiting"] : ["upstream"] + common
    }

    func list(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        let parameters = try request.parameters(filters + ["count", "limit"])
        let filter = try filter(parameters)
        let isCount = try JournalQuery.flag("count", in: parameters)
        let limit = try parameters.integer("limit", in: 1...Journal.capacity, default: Journal.capacity)
        return response(journal.entries(matching: filter), limit: isCount ? nil : limit)
    }

    /// Returns the matching entries as soon as there are `count` of them.
    func wait(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.get)
        let parameters = try request.parameters(filters + ["count", "timeout_ms"])
        let filter = try filter(parameters)
        try await JournalQuery.wait(parameters, in: journal, matching: filter, clock)
        return response(journal.entries(matching: filter), limit: Journal.capacity)
    }

    /// - Parameter limit: Most entries that are shown; nil for their number alone.
    private func response(_ found: [JournalEntry], limit: Int?) -> UpstreamResponse {
        let entries = limit.map { found.suffix($0).map { isFront ? $0.frontJSON : $0.json } }
        let response: JSONObject = [
            "entries": entries.map { .array($0) }, "count": .integer(found.count),
            "waiting": isFront ? .integer(found.count(where: \.isWaiting)) : nil,
            "dropped": .integer(journal.dropped),
        ]
        return .json(.ok, .object(response))
    }
}
