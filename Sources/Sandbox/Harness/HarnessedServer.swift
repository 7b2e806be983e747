package import Foundation

/// The interface of the server that is tested, for the controls below `/_harness`. The composition root connects the
/// two; the sandbox depends on nothing else of the server.
package protocol HarnessedServer: Sendable {
    /// Called before the first control. From now on requests are recorded.
    func activate()

    /// Called at each control, also of the simulated upstreams, because a space ends after a time without use.
    func noteUse()

    /// The spaces of this server; nil if it is a space itself.
    var spaces: (any HarnessedSpaces)? { get }

    /// Replaces all state of the server by that of a new data directory.
    ///
    /// - Parameter upstreams: Resets the simulated upstreams. Must be called when no request of the old state is left.
    func reset(_ upstreams: @escaping @Sendable () -> Void) async throws

    /// The members of a document that ``seed(_:_:)`` takes.
    var seedMembers: [String] { get }

    /// Stores the members of a JSON object: all or nothing.
    ///
    /// - Parameter upstreams: Fills the simulated upstreams, and calls its argument to store the object. No reset and
    ///   no other document is processed meanwhile.
    /// - Throws: ``SeedRefusal``.
    func seed(_ document: [UInt8], _ upstreams: @escaping @Sendable (_ store: SeedStore) async throws -> SeedReport)
        async throws -> SeedReport

    /// The snapshots, by name.
    var snapshotList: [SnapshotDescription] { get }

    /// Saves all state of the server, in place of an earlier snapshot of that name.
    ///
    /// - Parameter upstreams: Returns that of the simulated upstreams.
    func save(_ name: String, _ upstreams: @escaping @Sendable () -> SavedUpstreams) async throws -> SnapshotDescription

    /// Replaces all state of the server by that of a snapshot.
    ///
    /// - Parameter upstreams: Restores the simulated upstreams. Must be called when no request of the old state is
    ///   left.
    /// - Returns: Whether there is one of that name.
    func restore(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) -> Void) async throws -> Bool

    /// Returns the archive of a snapshot, for other processes; nil if there is none of that name.
    ///
    /// - Parameter upstreams: Returns the data of the simulated upstreams as files.
    func archive(_ name: String, _ upstreams: @escaping @Sendable (SavedUpstreams) throws -> [String: Data])
        async throws -> [UInt8]?

    /// Removes a snapshot.
    ///
    /// - Returns: Whether there was one of that name.
    func forget(_ name: String) async throws -> Bool

    /// Called after the simulated upstreams were reset alone: the server has to send requests to them again even if
    /// they failed before.
    func upstreamsWereReset()

    /// Called when an upstream was made or removed. Removes the stored responses of an upstream with that name.
    func forgetResponses(of upstream: String) async throws

    var served: ServedRoutes { get }

    /// The requests of its clients since ``activate()`` or the last reset.
    var front: FrontJournal { get }
    /// The faults of the server as its clients see them.
    var frontFaults: FrontFaults { get }

    /// The recordings of its upstreams.
    var fixtures: FixtureLibrary { get }

    /// The time of the server and its simulated upstreams.
    var now: Date { get }
    /// Whether that time is stopped.
    var isFrozen: Bool { get }
    /// Whether its clock shows another time than the machine's, or is stopped.
    var isShifted: Bool { get }

    /// Sets the time, and returns after work that has become due was done.
    ///
    /// - Returns: false, with nothing changed, if the time would go back.
    func setClock(_ time: Date?, frozen: Bool?) async -> Bool

    /// Follows the time of the machine again. The server is restarted with its data, since the time may go back.
    func followRealTime() async throws

    /// Advances the time, and returns after work that has become due was done.
    func advanceClock(by seconds: Double) async
}

/// The routes of the server that is tested. A rule for any other route is refused, because it would never match.
package struct ServedRoutes: Sendable {
    fileprivate struct Route: Sendable {
        let text: String
        let method: String
        let path: [String]
        /// Whether the route matches everything below its path, with any method.
        let isOpen: Bool
    }

    private static let mostShown = 5

    private let routes: [Route]

    /// Parses routes such as `GET /v1/ships/{id}`. One that ends with `/**` matches everything below, with any method.
    package init(_ texts: [String]) {
        routes = texts.map { text in
            let words = text.split(separator: " ", maxSplits: 1).map(String.init)
            let path = RequestTarget(words.last ?? "").segments
            let isOpen = path.last == "**"
            return Route(text: text, method: words[0], path: isOpen ? Array(path.dropLast()) : path, isOpen: isOpen)
        }
    }

    /// Returns the match if a route can serve it.
    /// - Throws: 400 that names the nearest routes.
    func checked(_ match: RequestMatch, field: String, value: String) throws(ControlProblem) -> RequestMatch {
        guard !serves(match) else { return match }
        throw .invalid(field: field, value: value, accepted: nearest(to: match), reason: "Larder has no such route")
    }

    /// Whether a route serves a request; true if no routes are known.
    package func serves(_ method: String, _ path: String) -> Bool {
        serves(RequestMatch(method: method, path: RequestTarget(path).segments, isWhole: true))
    }

    /// Whether a route can serve a request that matches; true if no routes are known.
    func serves(_ match: RequestMatch) -> Bool {
        routes.isEmpty || match.path.isEmpty || routes.contains { $0.serves(match) }
    }

    private func nearest(to match: RequestMatch) -> [String] {
        let path = match.path.joined(separator: "/")
        let sorted = routes.map { (text: $0.text, distance: Self.distance(path, $0.path.joined(separator: "/"))) }
            .sorted { ($0.distance, $0.text) < ($1.distance, $1.text) }
        return sorted.prefix(Self.mostShown).map(\.text)
    }

    /// Number of characters outside the common beginning and the common end.
    private static func distance(_ first: String, _ second: String) -> Int {
        let start = first.commonPrefix(with: second).utf8.count
        let ends = zip(first.utf8.reversed(), second.utf8.reversed()).prefix { $0 == $1 }.count
        let length = min(first.utf8.count, second.utf8.count)
        return max(first.utf8.count, second.utf8.count) - min(start + ends, length)
    }
}

extension ServedRoutes.Route {
    fileprivate func serves(_ match: RequestMatch) -> Bool {
        let isMethod =
            match.method.map { [method, "OPTIONS"].contains($0) || ($0 == "HEAD" && method == "GET") } ?? true
        guard isOpen || isMethod else { return false }
        let isAlike = zip(path, match.path).allSatisfy { own, other in
            own == other || other == "*" || (own.hasPrefix("{") && own.hasSuffix("}"))
        }
        guard isAlike else { return false }
        if isOpen { return match.path.count >= path.count || !match.isWhole }
        return match.isWhole ? match.path.count == path.count : match.path.count <= path.count
    }
}
