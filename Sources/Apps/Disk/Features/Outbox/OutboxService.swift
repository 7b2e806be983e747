import Cluster
import Concurrency
import Logging
import ServiceLifecycle

/// Goes on with the writes that wait when the server starts, and ends that with the server.
struct OutboxService: Service {
    let keeper: OutboxKeeper
    let store: DiskStore
    let clock: WallClock
    let logger: Logger

    /// How often a server looks for writes that another server was sending when it ended.
    private static let interval = Duration.seconds(10)

    /// Looks for work, then waits for the end of the server.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            await look()
            while store.users.isShared, !Task.isCancelled {
                do { try await clock.run(after: Self.interval) { await look() } } catch { return }
            }
        }
        try? await gracefulShutdown()
        await keeper.stop()
    }

    private func look() async {
        do {
            _ = try await store.users.catchUp()
            try store.followOutboxes()
        } catch is CancellationError {
            return
        } catch {
            logger.warning("the outbox could not be read", metadata: ["error": "\(error)"])
        }
        keeper.wake()
    }
}
