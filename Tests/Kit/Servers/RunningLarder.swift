import Foundation

/// The real `larder serve` over a socket.
package struct RunningLarder: Sendable {
    package let process: RunningProcess
    package let client: Client
    /// Kept for as long as the server runs: a folder goes with its last owner.
    package let data: TemporaryFolder

    /// Starts it on any free port and waits until it listens. Logins take no time unless the settings say so.
    package static func start(
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
    package func guest() async throws -> Client {
        var client = self.client
        client.token = try await client.post("/v1/ships/session", #"{"mode":"guest"}"#).json.data.token.string
        return client
    }

    /// Number of responses that it has sent from the response cache.
    package func cachedResponses() async throws -> Int {
        let line = try await client.get("/metrics").text.split(separator: "\n").first {
            $0.hasPrefix("larder_rendered_hits_total ")
        }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// Sends a request until its response is a cached one: it takes one to fetch, one to render and one to be sent.
    package func cached(_ client: Client, _ path: String, _ headers: [String: String] = [:], method: String = "GET")
        async throws -> ReceivedResponse
    {
        while true {
            let before = try await cachedResponses()
            let response = try await client.send(method, path, headers)
            if try await cachedResponses() > before { return response }
        }
    }

    /// Ends it without a chance to tidy up.
    package func kill9() async {
        process.signal(SIGKILL)
        await process.ended()
    }

    /// Ends it in order; gives the exit code.
    package func stop() async -> Int32 {
        process.signal(SIGTERM)
        return await process.ended()
    }
}
