import Freshness
import Logging
import ServiceLifecycle

/// Goes on with the writes that wait when the server starts, and ends that with the server.
struct OutboxService: Service {
    let keeper: OutboxKeeper
    let outbox: any OutboxBook
    let clock: WallClock
    let logger: Logger

    /// Looks for work, then waits for the end of the server.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await look()
            while let interval = outbox.lookInterval, !Task.isCancelled {
                do { try await clock.run(after: interval) { await look() } } catch { return }
            }
        }
        try? await gracefulShutdown()
        await keeper.stop()
    }

    private func look() async {
        do {
            try await outbox.catchUpOutboxes()
        } catch is CancellationError {
            return
        } catch {
            logger.warning("the outbox could not be read", metadata: ["error": "\(error)"])
        }
        keeper.wake()
    }
}
