import Foundation
import Freshness
import Logging
import ServiceLifecycle

/// Removes expired drafts while the server runs. They are invisible from the instant on at which they expire; removing
/// them frees their space.
struct ExpiredDraftCleaner: Service {
    /// Time between two runs.
    static let interval: Duration = .seconds(600)

    private let store: DocumentStore
    private let clock: WallClock
    private let logger: Logger

    /// Creates a cleaner for the drafts of a store.
    init(store: DocumentStore, clock: WallClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Removes expired drafts at once and then every ten minutes, until the server stops.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.purge()
                do { try await self.clock.sleep(Self.interval) } catch { return }
            }
        }
    }

    private func purge() async {
        do {
            let count = try await store.purgeDrafts(at: clock.now())
            if count > 0 { logger.info("expired drafts were removed", metadata: ["count": "\(count)"]) }
        } catch is CancellationError {
            // The server stops; the next start removes the rest.
        } catch {
            // They are invisible already, and the next run tries again.
            logger.error("expired drafts could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
