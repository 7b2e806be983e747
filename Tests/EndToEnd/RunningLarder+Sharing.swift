import TestKit

extension RunningLarder {
    /// Starts a process with a folder of its own that shares what users make with others.
    ///
    /// - Parameters:
    ///   - schema: That of the processes, in the store.
    ///   - apps: What it serves.
    static func sharing(_ server: RunningPostgres, _ schema: String, apps: String, _ settings: [String] = [])
        async throws -> RunningLarder
    {
        let url = "\(server.address())&options=-csearch_path%3D\(schema)"
        return try await RunningLarder.start(
            data: TemporaryFolder(),
            [
                "--sandbox", "--node-apps", apps, "--store-url", url, "--store-connections", "4",
                "--store-timeout-ms", "20000",
            ] + settings
        )
    }
}
