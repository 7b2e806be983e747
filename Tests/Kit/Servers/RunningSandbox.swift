/// The real `larder sandbox` over a socket.
package struct RunningSandbox: Sendable {
    package let process: RunningProcess
    package let control: Client
    package let base: String

    package static func start(port: Int = 0) async throws -> RunningSandbox {
        let process = RunningProcess(["sandbox", "--sandbox-port", String(port)])
        let base = try await process.line(after: "listening on ")
        return RunningSandbox(process: process, control: Client(base: base + "/_sandbox"), base: base)
    }

    package var spacex: String { base + "/spacex" }

    package func fault(_ fault: String) async throws {
        _ = try await control.put("/upstreams/spacex/fault", #"{"fault":"\#(fault)"}"#)
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
