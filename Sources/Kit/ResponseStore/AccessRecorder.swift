public import Database
public import Foundation
import Synchronization

/// Uses of stored responses and page lists, noted in memory and written many at a time: no read waits for a write, nor
/// costs one.
///
/// What is lost when the process is killed makes eviction a little less exact and nothing else.
public final class AccessRecorder: Sendable {
    private struct Pending {
        var responses: [CachedResponse.ID: Date] = [:]
        var pages: [PageKey: Date] = [:]
        var count: Int { responses.count + pages.count }
    }

    private let pending = Mutex(Pending())
    private let limit: Int
    private let resolution: TimeInterval

    /// Creates an empty book.
    ///
    /// - Parameters:
    ///   - limit: Most answers and pages that are noted between two flushes; uses of further ones are not noted.
    ///   - resolution: Seconds after a noted use in which another says nothing new, so that one hot answer does not
    ///     keep the disk busy.
    public init(limit: Int = 16_384, resolution: TimeInterval = 10) {
        self.limit = limit
        self.resolution = resolution
    }

    /// Notes that a stored response served a request. Costs a short lock; never waits for the database.
    public func note(_ response: CachedResponse, at time: Date) {
        guard let id = response.id, time.timeIntervalSince(response.lastUsed) >= resolution else { return }
        note(id, at: time)
    }

    /// The same for a response of which only the identity is known.
    public func note(_ id: CachedResponse.ID, at time: Date) {
        pending.withLock { pending in
            guard pending.responses[id] != nil || pending.count < limit else { return }
            pending.responses[id] = max(time, pending.responses[id] ?? time)
        }
    }

    /// Notes that a page list served a request.
    public func note(_ page: PageKey, at time: Date) {
        pending.withLock { pending in
            guard pending.pages[page] != nil || pending.count < limit else { return }
            pending.pages[page] = max(time, pending.pages[page] ?? time)
        }
    }

    /// Writes what was noted, in one transaction; no transaction where there is nothing. After an error everything is
    /// still noted.
    ///
    /// - Returns: How many answers and pages were noted.
    /// - Throws: ``StorageError``, `CancellationError`.
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
