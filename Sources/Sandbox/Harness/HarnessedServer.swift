package import Foundation

/// The server that is tested by means of the sandbox, as far as the controls below `/_harness` reach it. The
/// composition root connects the two; the sandbox knows nothing else of it.
package protocol HarnessedServer: Sendable {
    /// Called before the first control: from now on every request counts.
    func activate()

    /// Called at each control, also of the simulated upstreams: the server is in use.
    func noteUse()

    /// Further servers like this one; nil for one of them.
    var spaces: (any HarnessedSpaces)? { get }

    /// Replaces all state of the server by that of a new data directory.
    ///
    /// - Parameter upstreams: Resets the simulated upstreams; to be called when no request of the old state is left.
    func reset(_ upstreams: @escaping @Sendable () -> Void) async throws

    /// The members of a document that ``seed(_:_:)`` takes.
    var seedMembers: [String] { get }

    /// Stores what a JSON object has: all or nothing.
    ///
    /// - Parameter upstreams: Fills the simulated upstreams, and calls what it is given to store the object. No reset
    ///   and no other document comes between.
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
    /// - Parameter upstreams: Does the same with the simulated upstreams; to be called when no request of the old state
    ///   is left.
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

    /// The simulated upstreams were reset alone: whatever they did before, the server is to ask them again.
    func upstreamsWereReset()

    /// What it serves.
    var served: ServedRoutes { get }

    /// The requests of its clients since ``activate()`` or the last reset.
    var front: FrontJournal { get }
    /// What is wrong with the server as its clients see it.
    var frontFaults: FrontFaults { get }

    /// The recordings of its upstreams.
    var fixtures: FixtureLibrary { get }

    /// The time that the server and its simulated upstreams have.
    var now: Date { get }
    /// Whether that time stands still.
    var isFrozen: Bool { get }

    /// Sets the time. What has become due is done before it returns.
    ///
    /// - Returns: false, with nothing changed, if that would be a step back.
    func setClock(_ time: Date?, frozen: Bool?) async -> Bool

    /// Moves the time on. What has become due is done before it returns.
    func advanceClock(by seconds: Double) async
}
