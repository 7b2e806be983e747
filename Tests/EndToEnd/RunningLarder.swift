import Foundation

/// A folder for one test, removed with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "larder-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var path: String { url.path }
}

/// The real `larder serve` over a socket.
struct RunningLarder: Sendable {
    let process: RunningProcess
    let client: Client
    /// Kept for as long as the server runs: a folder goes with its last owner.
    let data: TemporaryFolder

    /// Starts it on any free port and waits until it listens. Logins take no time unless the settings say so.
    static func start(
        data: TemporaryFolder,
        upstream: String? = nil,
        _ settings: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> RunningLarder {
        var arguments = ["serve", "--http-port", "0", "--data-directory", data.path]
        if let upstream { arguments += ["--upstreams-spacex-url", upstream] }
        if !settings.contains("--ships-login-delay-ms") { arguments += ["--ships-login-delay-ms", "0"] }
        let process = RunningProcess(arguments + settings, environment: environment)
        let base = try await process.line(after: "listening on ")
        return RunningLarder(process: process, client: Client(base: base), data: data)
    }

    /// A client with a session of its own.
    func guest() async throws -> Client {
        var client = self.client
        client.token = try await client.post("/v1/ships/session", #"{"mode":"guest"}"#).json.data.token.string
        return client
    }

    /// Ends it without a chance to tidy up.
    func kill9() async {
        process.signal(SIGKILL)
        await process.ended()
    }

    /// Ends it in order; gives the exit code.
    func stop() async -> Int32 {
        process.signal(SIGTERM)
        return await process.ended()
    }
}

/// The real `larder sandbox` over a socket.
struct RunningSandbox: Sendable {
    let process: RunningProcess
    let control: Client
    let base: String

    static func start(port: Int = 0) async throws -> RunningSandbox {
        let process = RunningProcess(["sandbox", "--sandbox-port", String(port)])
        let base = try await process.line(after: "listening on ")
        return RunningSandbox(process: process, control: Client(base: base + "/_sandbox"), base: base)
    }

    var spacex: String { base + "/spacex" }

    func fault(_ fault: String) async throws {
        _ = try await control.put("/upstreams/spacex/fault", #"{"fault":"\#(fault)"}"#)
    }

    /// Paths that were asked for, in order.
    func journal() async throws -> [String] {
        try await control.get("/journal?upstream=spacex").json.entries.array.compactMap { $0.path.string }
    }

    /// Waits until so many requests have arrived.
    func arrived(_ count: Int) async throws {
        _ = try await control.get("/journal/wait?upstream=spacex&count=\(count)&timeout_ms=9000")
    }
}
