import ServiceLifecycle

/// Goes on with the writes that wait when the server starts, and ends that with the server.
struct OutboxService: Service {
    let keeper: OutboxKeeper

    /// Looks for work, then waits for the end of the server.
    func run() async throws {
        keeper.wake()
        try? await gracefulShutdown()
        await keeper.stop()
    }
}
