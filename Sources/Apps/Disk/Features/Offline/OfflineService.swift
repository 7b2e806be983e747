import Logging
import ServiceLifecycle

/// Continues the work on offline files when the server starts, and ends it with the server.
struct OfflineService: Service {
    let keeper: OfflineKeeper
    let marks: any MarkBook
    let logger: Logger

    /// Looks for work, then waits for the end of the server.
    func run() async throws {
        do { try await marks.followAll() } catch {
            // Each account's marks are read with its next request, and before anything is kept.
            logger.warning("marks of other servers could not be read", metadata: ["error": "\(error)"])
        }
        keeper.wake()
        try? await gracefulShutdown()
        await keeper.stop()
    }
}
