public import Database
public import Foundation
import Synchronization

/// Records uses of stored responses and page lists in memory and writes them in batches, so that no read waits for a
/// write or causes one.
///
/// Uses that are lost with the process only make the order of eviction less exact.
public final class AccessRecorder: Sendable {
    private struct Pending {
        var responses: [CachedResponse.ID: Date] = [:]
        var pages: [PageKey: Date] = [:]
        var count: Int { responses.count + pages.count }
    }

    private let pending = Mutex(Pending())
    private let limit: Int
    private let resolution: TimeInterval

    /// Creates an empty recorder.
    ///
    /// - Parameters:
    ///   - limit: The most responses and pages that are recorded between two flushes; uses of others are dropped.
    ///   - resolution: Seconds after a recorded use in which another is dropped, so that a hot response does not keep
    ///     the disk busy.
    public init(limit: Int = 16_384, resolution: TimeInterval = 10) {
        self.limit = limit
        self.resolution = resolution
    }

    /// Records that a stored response served a request. Costs a short lock; never waits for the database.
    public func note(_ response: CachedResponse, at time: Date) {
        note(response.metadata, at: time)
    }

    /// Records the same of a response of which only the metadata was read.
    public func note(_ response: StoredResponseMetadata, at time: Date) {
        guard let id = response.id, time.timeIntervalSince(response.lastUsed) >= resolution else { return }
        note(id, at: time)
    }

    /// Records a use of a response of which only the identity is known.
    public func note(_ id: CachedResponse.ID, at time: Date) {
        pending.withLock { pending in
            guard pending.responses[id] != nil || pending.count < limit else { return }
            pending.responses[id] = max(time, pending.responses[id] ?? time)
        }
    }

    /// Records that a page list served a request.
    public func note(_ page: PageKey, at time: Date) {
        pending.withLock { pending in
            guard pending.pages[page] != nil || pending.count < limit else { return }
            pending.pages[page] = max(time, pending.pages[page] ?? time)
        }
    }

    /// Writes the recorded uses in one transaction, if there are any. After an error they are still recorded.
    ///
    /// - Returns: The number of responses and pages that were written.
    /// - Throws: `StorageError`, `CancellationError`.
    @discardableResult
    public func flush(to database: LarderDatabase) async throws -> Int {
        let taken = pending.withLock { pending in
            defer { pending = Pending() }
            return pending
        }
        guard taken.count > 0 else { return 0 }
        do {
            try await database.write { db in
                try ResponseStore(database).touch(taken.responses, in: db)
                try PageStore().touch(taken.pages, in: db)
            }
            return taken.count
        } catch {
            for (id, time) in taken.responses { note(id, at: time) }
            for (key, time) in taken.pages { note(key, at: time) }
            throw error
        }
    }
}
