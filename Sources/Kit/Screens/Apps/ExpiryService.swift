package import Concurrency
package import Foundation
package import Logging
import ServiceLifecycle
package import Storage
import Synchronization

/// Removes expired data at start, and then every ten minutes. The removal only frees space: expired data is invisible
/// or harmless.
package struct ExpiryService: Service {
    /// Time between two runs.
    package static let interval: Duration = .seconds(600)

    private let title: String
    private let retention: RetentionClock
    private let logger: Logger
    private let purge: @Sendable (_ now: Date) async throws -> Int

    /// - Parameters:
    ///   - title: the kind of data, for the log: `expired drafts`.
    ///   - purge: removes data that has expired by a time, and returns its amount.
    package init(
        of title: String,
        by retention: RetentionClock,
        logger: Logger,
        purge: @escaping @Sendable (_ now: Date) async throws -> Int
    ) {
        self.title = title
        self.retention = retention
        self.logger = logger
        self.purge = purge
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            await self.purgeOnce()
            while !Task.isCancelled {
                do { try await self.retention.clock.run(after: Self.interval) { await self.purgeOnce() } } catch {
                    return
                }
            }
        }
    }

    private func purgeOnce() async {
        do {
            let count = try await purge(retention.reading())
            if count > 0 { logger.info("\(title) were removed", metadata: ["count": .stringConvertible(count)]) }
        } catch is CancellationError {
            // The server stops; the next start removes the rest.
        } catch {
            // The next run tries again.
            logger.error("\(title) could not be removed", metadata: ["error": "\(error)"])
        }
    }
}

/// The clock by which the data of users expires. Unlike `WallClock` it does not follow a jump ahead
/// (`RetentionTime`), and it is never ahead of the store that several servers share.
package final class RetentionClock: Sendable {
    private struct State {
        var retention: RetentionTime?
        /// Seconds that the clock is ahead of the store's; 0 within the tolerance.
        var ahead: TimeInterval = 0
    }

    /// The difference between the clocks of a server and of its store that is neither logged nor counted.
    package static let tolerance: TimeInterval = 30

    package let clock: WallClock
    private let database: LarderDatabase?
    private let storeTime: (@Sendable () async throws -> Date)?
    private let isTested: @Sendable () -> Bool
    private let logger: Logger
    private let state = Mutex(State())

    /// Creates a clock that shows the time of another, for work that does not depend on it.
    package init(trusting clock: WallClock, logger: Logger) {
        (self.clock, database, storeTime, isTested, self.logger) = (clock, nil, nil, { true }, logger)
    }

    /// Creates a clock with the record of a database, and takes a first reading.
    ///
    /// - Parameters:
    ///   - storeTime: Returns the time of the store that several servers share; nil without a store.
    ///   - isTested: Returns whether a test controls the server: a jump of the clock is meant then.
    /// - Throws: `StorageError`.
    package init(
        _ clock: WallClock,
        database: LarderDatabase,
        storeTime: (@Sendable () async throws -> Date)?,
        isTested: @escaping @Sendable () -> Bool,
        logger: Logger
    ) throws {
        (self.clock, self.database, self.storeTime) = (clock, database, storeTime)
        (self.isTested, self.logger) = (isTested, logger)
        try observe(clock.now())
    }

    /// The time by which data expires, of the last reading.
    package var now: Date {
        let now = clock.now()
        if isTested() { return now }
        return state.withLock { state in
            (state.retention?.time(at: now) ?? now).addingTimeInterval(-state.ahead)
        }
    }

    /// Takes a reading and returns the time by which data expires.
    ///
    /// - Throws: `StorageError`; the errors of the store.
    package func reading() async throws -> Date {
        let now = clock.now()
        if isTested() { return now }
        if let storeTime {
            let ahead = now.timeIntervalSince(try await storeTime())
            if abs(ahead) > Self.tolerance {
                logger.warning(
                    "the clock differs from the store's: data expires by the earlier of both",
                    metadata: ["seconds_ahead": .stringConvertible(Int(ahead))]
                )
            }
            state.withLock { $0.ahead = ahead > Self.tolerance ? ahead : 0 }
        }
        try observe(now)
        return self.now
    }

    private func observe(_ now: Date) throws {
        guard let database, !isTested() else { return }
        let retention = try database.observe(now)
        let wasDoubtful = state.withLock { state in
            defer { state.retention = retention }
            return state.retention?.isOutcomeUnknown ?? false
        }
        guard retention.isOutcomeUnknown, !wasDoubtful else { return }
        logger.warning("the clock is far ahead of the last run: nothing expires until it has gone on for a day")
    }
}
