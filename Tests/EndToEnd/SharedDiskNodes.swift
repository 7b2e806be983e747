import Foundation
import TestKit

/// Starts the processes of a store with one key.
struct SharedDiskNodes {
    let servers: SharedServers
    let sandbox: RunningSandbox
    private let key: TemporaryFolder

    init() async throws {
        servers = try await SharedServers("disk")
        sandbox = try await RunningSandbox.start()
        key = try TemporaryFolder()
        try key.writePrivately("store.key", Data(repeating: 7, count: 32))
    }

    func start(_ data: TemporaryFolder, _ settings: [String] = []) async throws -> RunningLarder {
        try await RunningLarder.start(
            data: data,
            [
                "--node-apps", "disk", "--store-url", servers.url, "--store-connections", "4",
                "--store-timeout-ms", "20000", "--store-key-file", key.url.appending(path: "store.key").path,
                "--upstreams-yandex-disk-url", sandbox.base + "/yandex_disk", "--upstreams-yandex-oauth-url",
                sandbox.base + "/yandex_oauth", "--disk-oauth-client-id", "sandbox-client",
            ] + settings
        )
    }

    func start() async throws -> RunningLarder { try await start(try TemporaryFolder()) }
}
