import TestKit

extension RunningLarder {
    /// Starts a process with a folder of its own that shares the data of users with other processes.
    ///
    /// - Parameters:
    ///   - schema: That of the processes, in the store.
    ///   - apps: The apps that it serves.
    ///   - upstream: The API of ships; nil for a sandbox of its own.
    static func sharing(
        _ server: RunningPostgres,
        _ schema: String,
        apps: String,
        upstream: String? = nil,
        _ settings: [String] = []
    ) async throws -> RunningLarder {
        let url = "\(server.address())&options=-csearch_path%3D\(schema)"
        return try await RunningLarder.start(
            data: TemporaryFolder(),
            upstream: upstream,
            [
                "--node-apps", apps, "--store-url", url, "--store-connections", "4", "--store-timeout-ms", "20000",
            ] + (upstream == nil ? ["--sandbox"] : []) + settings
        )
    }
}
