import Concurrency
import ServiceLifecycle

/// Ends the tasks that no request waits for together with the server.
struct BackgroundService: Service {
    let background: BackgroundTasks

    /// Waits for the end of the server, then cancels the tasks.
    func run() async throws {
        try? await gracefulShutdown()
        background.stop()
    }
}
