package import AsyncHTTPClient
import Foundation

/// A sandbox over a socket: the real `larder sandbox`, or one within the process of the tests.
package struct RunningSandbox: Sendable {
    /// The process of the real one; nil if the caller runs it.
    private let process: RunningProcess?
    package let client: Client
    package let control: Client

    /// Names a sandbox that listens.
    package init(base: String, http: HTTPClient = Client.http) { self.init(base: base, http: http, process: nil) }

    private init(base: String, http: HTTPClient, process: RunningProcess?) {
        self.process = process
        client = Client(base: base, http: http)
        control = Client(base: base + "/_sandbox", http: http)
    }

    /// Starts the real one and waits until it listens.
    package static func start(port: Int = 0) async throws -> RunningSandbox {
        let process = RunningProcess(["sandbox", "--sandbox-port", String(port)])
        return RunningSandbox(base: try await process.line(after: "listening on "), http: Client.http, process: process)
    }

    /// Ends the real one without a chance to tidy up.
    package func kill9() async {
        process?.signal(SIGKILL)
        await process?.ended()
    }

    package var base: String { client.base }
    package var port: Int { client.port }
    package var spacex: String { base + "/spacex" }

    /// Sets the fault of an upstream.
    package func fault(_ fault: String, of upstream: String = "spacex") async throws {
        _ = try await control.put("/upstreams/\(upstream)/fault", #"{"fault":"\#(fault)"}"#)
    }

    /// Paths that were asked for, in order.
    package func journal() async throws -> [String] {
        try await control.get("/journal?upstream=spacex").json.entries.elements.compactMap { $0.path.string }
    }

    /// Waits until this many requests have arrived.
    package func arrived(_ count: Int) async throws {
        _ = try await control.get("/journal/wait?upstream=spacex&count=\(count)&timeout_ms=60000")
    }
}
