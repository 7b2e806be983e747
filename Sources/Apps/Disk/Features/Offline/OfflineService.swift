import ServiceLifecycle

/// Continues the work on offline files when the server starts, and ends it with the server.
struct OfflineService: Service {
    let keeper: OfflineKeeper

    /// Looks for work, then waits for the end of the server.
    func run() async throws {
        keeper.wake()
        try? await gracefulShutdown()
        await keeper.stop()
    }
}
