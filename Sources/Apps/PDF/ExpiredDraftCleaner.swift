import Foundation
public import Logging
public import ServiceLifecycle
public import Upstream

/// Removes the drafts whose time is over, beside the server. Nobody sees one from that instant on; this gives their
/// space back.
public struct ExpiredDraftCleaner: Service {
    /// Time between two looks.
    static let interval: Duration = .seconds(600)

    private let store: DocumentStore
    private let clock: WallClock
    private let logger: Logger

    /// Purges the drafts of a store.
    public init(store: DocumentStore, clock: WallClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Looks at once, and then every ten minutes, until the server stops.
    public func run() async {
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
            if count > 0 { logger.info("drafts that nobody saved have gone", metadata: ["count": "\(count)"]) }
        } catch is CancellationError {
            // Stopped; the next start goes on.
        } catch {
            // They are not seen any more, and the next look tries again.
            logger.error("old drafts could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
