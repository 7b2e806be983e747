import Cluster
import Concurrency
import Logging
import ServiceLifecycle

/// Resumes downloads when the server starts, takes up those of servers that have ended, and ends with the server.
struct DownloadService: Service {
    let store: DiskStore
    let queue: DownloadQueue
    let runner: DownloadRunner
    let clock: WallClock
    let logger: Logger

    /// How often a server says that it goes on with its downloads, and looks for those of servers that do not.
    private static let pause = Duration.seconds(5)

    /// Resumes the unfinished downloads, then waits for the end of the server.
    func run() async throws {
        await look()
        if store.users.isShared {
            await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    do { try await clock.sleep(Self.pause) } catch { return }
                    await look()
                }
            }
        }
        try? await gracefulShutdown()
        await queue.stop()
    }

    private func look() async {
        do {
            try await resume()
        } catch {
            logger.error(
                "downloads could not be resumed; the next start or another server tries again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Says which downloads this server goes on with, and queues those that no server does, from their beginning: parts
    /// of files are not stored.
    ///
    /// - Throws: Errors of the store.
    func resume() async throws {
        try await queue.renewLeases()
        for (job, lease) in try await store.takeUpDownloads(except: queue.ids) { queue.add(job, lease, runner.run) }
    }
}
