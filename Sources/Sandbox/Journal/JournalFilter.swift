/// Selects entries; a missing part matches everything.
struct JournalFilter: Sendable, Equatable {
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

    var upstream: String?
    var method: String?
    /// Beginning of the path, with the upstream's prefix.
    var pathPrefix: String?
    var query: Named?
    var header: Named?
    var status: Status?
    /// Entries after this number.
    var since: Int?
    /// Entries up to this number.
    var until: Int?
    var requestID: String?
    /// The route of a client's request.
    var route: RequestMatch?
    /// The numbers of clients' requests, one of which has caused the entry.
    var causes: Set<Int>?
    /// Whether they wait for an upstream now.
    var isWaiting: Bool?

    func matches(_ entry: JournalEntry) -> Bool {
        guard isIn(entry.sequence), hasStatus(entry.status) else { return false }
        if let upstream, upstream != entry.upstream { return false }
        if let method, method != entry.method { return false }
        if let pathPrefix, !entry.path.hasPrefix(pathPrefix) { return false }
        if let isWaiting, isWaiting != entry.isWaiting { return false }
        if let route, !route.matches(MatchedRequest(entry)) { return false }
        if let causes {
            guard case .number(let number) = entry.cause, let cause = Int(number), causes.contains(cause) else {
                return false
            }
        }
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

extension MatchedRequest {
    /// The method and the path of an entry.
    fileprivate init(_ entry: JournalEntry) {
        self.init(method: entry.method, path: RequestTarget(entry.path).segments)
    }
}
