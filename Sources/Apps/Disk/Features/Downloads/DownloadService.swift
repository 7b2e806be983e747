import Freshness
import Logging
import ServiceLifecycle

/// Resumes downloads when the server starts, takes up those of servers that have ended, and ends with the server.
struct DownloadService: Service {
    let book: any JobBook
    let queue: DownloadQueue
    let runner: DownloadRunner
    let clock: WallClock
    let logger: Logger

    /// Resumes what was in progress, then waits for the end of the server.
    func run() async throws {
        await look()
        if let pause = book.leaseRenewal {
            await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    do { try await clock.sleep(pause) } catch { return }
                    await look()
                }
            }
        }
        try? await gracefulShutdown()
        await queue.stop()
        do { try await book.leaveDownloads() } catch {
            logger.warning("another server resumes the downloads later", metadata: ["error": "\(error)"])
        }
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
        let jobs = queue.jobs
        let lost = Set(jobs.map(\.id)).subtracting(try await book.renew(jobs))
        if !lost.isEmpty { queue.cancel { lost.contains($0.id) } }
        for job in try await book.takeUpDownloads() { queue.add(job, runner.run) }
    }
}
