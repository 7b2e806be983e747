import Database
import Foundation
import Freshness
import Logging
import Metrics
import ResponseStore
import ServiceLifecycle
import Upstream

/// Keeps the cache within its budget and records what was used: evicts after each store, and writes last uses every few
/// seconds and at the end.
struct CacheMaintenance: Service {
    /// Time between two flushes of last uses.
    static let flushInterval: Duration = .seconds(5)

    let database: LarderDatabase
    let accessRecorder: AccessRecorder
    let budget: CacheBudget
    let clock: WallClock
    let logger: Logger

    init(_ resources: ServerResources) {
        database = resources.database
        accessRecorder = resources.accessRecorder
        budget = resources.configuration.cacheBudget
        clock = resources.clock
        logger = resources.logger
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.evictAfterStores() }
                group.addTask { await self.flushRegularly() }
            }
        }
        // The requests of a graceful stop have ended by now: the server's connections stop before its services.
        await flush()
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
        }
    }

    private func flush() async {
        do {
            try await accessRecorder.flush(to: database)
        } catch is CancellationError {
            // Stopped; the recorded uses are kept, and written last of all.
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
            }
            for total in try ResponseStore(database).totals() {
                Meter(label: "larder_cache_bytes", dimensions: [("upstream", total.upstream)]).set(Int64(total.bytes))
            }
        } catch is CancellationError {
            // Stopped; the next start continues.
        } catch {
            // The next store tries again.
            logger.error("the cache could not be brought within its budget", metadata: ["error": "\(error)"])
        }
    }
}
