import Foundation
import TestKit
import Testing

/// A database, and the processes that use it.
struct SharedServers {
    /// Where the database is.
    let url: String
    private let server: RunningPostgres
    private let apps: String

    /// - Parameter apps: The apps that the processes serve.
    init(_ apps: String) async throws {
        server = try await RunningPostgres.shared.value
        url = try server.database()
        self.apps = apps
    }

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - role: The user of the database; nil for its owner.
    ///   - data: The folder of an earlier process; nil for a new one.
    func start(as role: String? = nil, on data: TemporaryFolder? = nil, _ settings: [String] = []) async throws
        -> RunningLarder
    {
        let address = role.map { url.replacing("larder@", with: "\($0)@") } ?? url
        return try await RunningLarder.start(
            data: data,
            [
                "--sandbox", "--node-apps", apps, "--store-url", address, "--store-connections", "4",
                "--store-timeout-ms", "20000", "--notes-scrypt-logarithm", "10",
            ] + settings
        )
    }

    /// Runs a statement in the database, and returns the rows that it selects.
    @discardableResult
    func sql(_ statement: String) async throws -> String { try await RunningPostgres.sql(statement, at: url) }

    /// Whether processes can connect to the database. Open connections stay.
    func allowConnections(_ isAllowed: Bool) async throws {
        try await RunningPostgres.sql("ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isAllowed)", at: server.address())
    }

    /// Makes a user of the database, for a process that alone is to be cut off.
    func makeRole() async throws -> String {
        let role = "\(name)_alone"
        try await sql("CREATE ROLE \(role) SUPERUSER LOGIN")
        return role
    }

    /// Whether a user can connect. Without that, the open connections end, too.
    func allow(_ role: String, _ isAllowed: Bool) async throws {
        try await sql("ALTER ROLE \(role) \(isAllowed ? "" : "NO")LOGIN")
        if isAllowed { return }
        try await sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '\(role)'")
    }

    /// Ends the connections on which processes listen.
    func endListeners() async throws -> Int {
        let ended = try await RunningPostgres.sql(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = '\(name)' AND (query LIKE 'LISTEN %' OR query = 'SELECT 1')
            """,
            at: server.address()
        )
        return Int(ended) ?? 0
    }

    /// Ends all connections of processes.
    func endConnections() async throws {
        try await RunningPostgres.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'",
            at: server.address()
        )
    }

    private var name: String { url.split(separator: "?")[0].split(separator: "/").last.map { String($0) } ?? "" }
}

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

    /// Starts a process.
    ///
    /// - Parameter data: The folder of an earlier process; nil for a new one.
    func start(_ data: TemporaryFolder? = nil, _ settings: [String] = []) async throws -> RunningLarder {
        try await RunningLarder.start(
            data: data,
            [
                "--node-apps", "disk", "--store-url", servers.url, "--store-connections", "4",
                "--store-timeout-ms", "20000", "--store-key-file", key.url.appending(path: "store.key").path,
                "--disk-oauth-client-id", "sandbox-client",
            ] + sandbox.disk + settings
        )
    }
}

// Helpers for tests of the outbox of the Disk.
extension Client {
    /// Leaves the creation of a folder.
    func leaveFolder(_ path: String) async throws {
        let fields = ["Prefer": "respond-async"]
        let left = try await send("POST", "/v1/disk/folders", fields, body: #"{"path":"\#(path)"}"#)
        #expect(left.status == 202, "\(left.text)")
    }

    /// Waits until no write waits.
    func outboxDrained() async throws {
        try await BoundedWait.poll(for: "the outbox to drain") {
            try await get("/v1/disk/outbox").json.meta.state.string == "empty"
        }
    }
}

extension RunningSandbox {
    /// Returns the paths that were created at the API of the Disk, in order.
    func created() async throws -> [String] {
        let entries = try await control.get("/journal?upstream=yandex_disk&method=PUT&status=201").json.entries
        return entries.elements.map { entry in
            let target = entry.path.string?.removingPercentEncoding ?? ""
            return target.split(separator: "path=").last.map(String.init) ?? ""
        }
    }
}

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
            upstream: upstream,
            [
                "--node-apps", apps, "--store-url", url, "--store-connections", "4", "--store-timeout-ms", "20000",
            ] + (upstream == nil ? ["--sandbox"] : []) + settings
        )
    }
}
