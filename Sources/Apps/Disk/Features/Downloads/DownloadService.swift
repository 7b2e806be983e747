import Logging
import ServiceLifecycle

/// Resumes downloads when the server starts, and ends them with it.
struct DownloadService: Service {
    let store: DiskStore
    let queue: DownloadQueue
    let runner: DownloadRunner
    let logger: Logger

    /// Resumes what was in progress, then waits for the end of the server.
    func run() async throws {
        do {
            try await resume()
        } catch {
            logger.error(
                "downloads could not be resumed; the next start tries again",
                metadata: ["error": "\(error)"]
            )
        }
        try? await gracefulShutdown()
        await queue.stop()
    }

    /// Queues the downloads that an earlier run of the server left unfinished, from their beginning: parts of files are
    /// not stored.
    ///
    /// - Throws: `StorageError`.
    func resume() async throws {
        for var job in try store.unfinishedDownloads() {
            _ = job.apply(.interrupted)
            try await store.note(job)
            queue.add(job, runner.run)
        }
    }
}
