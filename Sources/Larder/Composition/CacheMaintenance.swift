import Concurrency
import Foundation
import Logging
import Metrics
import Screens
import ServiceLifecycle
import Storage
import Upstream

/// Maintains the stored data: evicts after each store, writes last uses regularly and at the end, and keeps the reserve
/// of the disk. It ends sessions that are not used any more. It checks the pages of the database after an unclean stop,
/// and after a damaged page was found.
struct CacheMaintenance: Service {
    /// Time between two flushes of last uses.
    static let flushInterval: Duration = .seconds(5)
    /// Time between two searches for sessions that are not used any more.
    static let sessionInterval: Duration = .seconds(3600)

    let database: LarderDatabase
    let sessions: SessionStore
    let devices: DeviceStore
    let accessRecorder: AccessRecorder
    let budget: CacheBudget
    let checkTime: StorageCheckTime
    let clock: WallClock
    let retention: RetentionClock
    let logger: Logger

    init(_ resources: ServerResources) {
        database = resources.database
        sessions = resources.sessions
        devices = resources.devices
        accessRecorder = resources.accessRecorder
        budget = resources.configuration.settings[ServerSettings.cacheBudget]
        checkTime = resources.configuration.settings[ServerSettings.storageCheck]
        clock = resources.clock
        retention = resources.retention
        logger = resources.logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.evictAfterStores() }
                group.addTask { await self.flushRegularly() }
                group.addTask { await self.checkPagesIfNeeded() }
                group.addTask { await self.endUnusedSessions() }
            }
        }
        // The requests have ended by now, because the server's connections are closed before its services stop.
        await flush()
        await reportingSessions { try await sessions.storeUses() }
        await reportingSessions { try await devices.storeUses() }
    }

    private func endUnusedSessions() async {
        await reportingSessions { try await endUnused() }
        while true {
            do {
                try await clock.run(after: Self.sessionInterval) {
                    await reportingSessions { try await endUnused() }
                    await reportingSessions { try await devices.storeUses() }
                }
            } catch {
                return  // stopped
            }
        }
    }

    private func endUnused() async throws {
        _ = try await retention.reading()
        try await sessions.endUnused()
    }

    private func reportingSessions(_ work: () async throws -> Void) async {
        do {
            try await work()
        } catch is CancellationError {
            // The service stops; the remaining sessions are ended at the next start.
        } catch {
            // The uses are kept until the next search.
            logger.error("sessions could not be maintained", metadata: ["error": "\(error)"])
        }
    }

    private func evictAfterStores() async {
        let stores = database.stores()
        await evict()  // What an earlier run, or a larger budget, has left.
        for await _ in stores { await evict() }
    }

    private func flushRegularly() async {
        while true {
            do {
                try await clock.sleep(Self.flushInterval)
            } catch {
                return  // stopped
            }
            await flush()
            await database.maintain()
        }
    }

    private func checkPagesIfNeeded() async {
        if checkTime == .background, database.wasLeftOpen {
            await checkPages("an unclean stop")
            _ = database.takeSuspicion()  // What was met until now has been looked for.
        }
        while checkTime != .never {
            do {
                try await clock.sleep(Self.flushInterval)
            } catch {
                return  // stopped
            }
            if database.takeSuspicion() { await checkPages("a damaged page was met", thoroughly: true) }
        }
    }

    /// Checks all pages. Reports damage, and removes it from the cache and the free pages.
    private func checkPages(_ reason: String, thoroughly: Bool = false) async {
        do {
            let damaged = try await database.damagedTables(thoroughly: thoroughly)
            if damaged.isEmpty {
                logger.info("the pages of the database were checked after \(reason): none is damaged")
            } else {
                try await CacheReset(database).run(damaged: damaged)
            }
        } catch is CancellationError {
            // The service stops. The database is closed in order, so the next start does not check it.
            logger.notice("the check of the database's pages was not completed; larder doctor checks them all")
        } catch {
            logger.error("the pages of the database could not be checked", metadata: ["error": "\(error)"])
        }
    }

    private func flush() async {
        do {
            try await accessRecorder.flush(to: database)
        } catch is CancellationError {
            // The service stops; the recorded uses are kept and written at its end.
        } catch {
            // The recorded uses are kept: the next flush tries again.
            logger.error("last uses could not be written", metadata: ["error": "\(error)"])
        }
    }

    private func evict() async {
        do {
            let eviction = CacheEviction(database, budget: budget)
            if budget.isExceeded(by: try eviction.total()) {
                await flush()  // So that what was used a moment ago does not count as old.
                let freed = try await eviction.run()
                Counter(label: "larder_cache_evictions_total").increment(by: Int64(freed.count))
                let metadata: Logger.Metadata = [
                    "responses": "\(freed.responses)", "page_lists": "\(freed.pages)", "bytes": "\(freed.bytes)",
                ]
                logger.info("evicted what was used least recently", metadata: metadata)
                try await database.shrink()
            }
            for total in try ResponseStore(database).totals() {
                Meter(label: "larder_cache_bytes", dimensions: [("upstream", total.upstream)]).set(Int64(total.bytes))
            }
        } catch is CancellationError {
            // The service stops; the next start continues.
        } catch {
            // The next store tries again.
            logger.error("the cache could not be brought within its budget", metadata: ["error": "\(error)"])
        }
    }
}
