import JSONValues

/// Selects entries; a missing part matches everything.
struct JournalFilter: Sendable {
    /// A query parameter or a header field.
    struct Named: Sendable, Equatable {
        let name: String
        /// nil for any.
        let value: String?

        func matches(_ values: [String]) -> Bool {
            value.map { values.contains($0) } ?? !values.isEmpty
        }
    }

    enum Status: Sendable, Equatable {
        case code(Int)
        /// No response, or not yet.
        case missing
    }

    /// A client's request, by its route.
    struct Cause: Sendable {
        let route: RequestMatch
        let journal: Journal

        func matches(_ cause: JSONValue) -> Bool {
            guard case .number(let text) = cause, let number = Int(text), let entry = journal.entry(number) else {
                return false
            }
            return route.matches(MatchedRequest(entry))
        }
    }

    var upstream: String?
    var method: String?
    /// Beginning of the path, with or without the upstream's name.
    var pathPrefix: String?
    var query: Named?
    var header: Named?
    var status: Status?
    /// Entries after this number.
    var since: Int?
    /// Entries up to this number.
    var until: Int?
    var requestID: String?
    var route: RequestMatch?
    /// The client's request that has caused the entry.
    var cause: Cause?
    /// Whether they wait for an upstream now.
    var isWaiting: Bool?

    func matches(_ entry: JournalEntry) -> Bool {
        guard isIn(entry.sequence), hasStatus(entry.status) else { return false }
        if let upstream, upstream != entry.upstream { return false }
        if let method, method != entry.method { return false }
        if let pathPrefix, !entry.path.hasPrefix(pathPrefix), !entry.pathBelow.hasPrefix(pathPrefix) { return false }
        if let isWaiting, isWaiting != entry.isWaiting { return false }
        if let route, !route.matches(MatchedRequest(entry)) { return false }
        if let cause, !cause.matches(entry.cause) { return false }
        if let requestID, requestID != entry.requestID { return false }
        if let header, !header.matches(entry.values(of: header.name)) { return false }
        return hasQuery(entry)
    }

    private func isIn(_ sequence: Int) -> Bool {
        sequence > since ?? 0 && sequence <= until ?? .max
    }

    private func hasStatus(_ code: Int?) -> Bool {
        switch status {
        case nil: true
        case .code(let expected)?: code == expected
        case .missing?: code == nil
        }
    }

    private func hasQuery(_ entry: JournalEntry) -> Bool {
        guard let query else { return true }
        return query.matches(RequestTarget(entry.path).query.filter { $0.name == query.name }.map(\.value))
    }
}

extension JournalEntry {
    /// The path without the name of the upstream.
    fileprivate var pathBelow: Substring {
        path.hasPrefix("/\(upstream)/") ? path.dropFirst(upstream.utf8.count + 1) : path[...]
    }
}

extension MatchedRequest {
    fileprivate init(_ entry: JournalEntry) {
        self.init(method: entry.method, path: RequestTarget(entry.path).segments)
    }
}
