package import Database
package import Freshness
package import ResponseStore

/// What is stored of an upstream's responses: where, how much of it, when it was used, and when it is removed.
package struct UpstreamStore: Sendable {
    package let database: LarderDatabase
    package let responses: ResponseStore
    package let budget: CacheBudget
    private let accessRecorder: AccessRecorder
    private let removals = RemovalCounter()
    private let clock: WallClock

    init(_ database: LarderDatabase, _ accessRecorder: AccessRecorder, _ budget: CacheBudget, _ clock: WallClock) {
        self.database = database
        self.accessRecorder = accessRecorder
        self.budget = budget
        self.clock = clock
        responses = ResponseStore(database)
        database.onRemovalOfResponses { [removals] in removals.removed($0) }
    }

    /// Notes the use of a stored response, so that it is not the next to be evicted.
    package func noteUse(of stored: StoredResponseMetadata) {
        accessRecorder.note(stored, at: clock.now())
    }

    /// Returns a token that no later removal passes unnoticed. To be taken before the store is read.
    package func removalSnapshot() -> ChangeToken { removals.snapshot() }

    /// Returns a token that holds while a response is stored, and notes its further uses.
    ///
    /// - Parameter before: The ``removalSnapshot()`` taken before the response was read.
    /// - Returns: Nil if a response was removed since, which may have been this one.
    package func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        let uses = AccessReporter { [accessRecorder, clock] in accessRecorder.note(id, at: clock.now()) }
        return removals.changeToken(of: id, since: before)?.noting(uses)
    }
}
