import NIOPosix
import ServiceLifecycle
import Synchronization
import Upstream

/// Runs scenarios beside a server, which ends with them.
final class ScenarioService: Service {
    private let scenarios: [Scenario]
    private let done = Mutex<[ScenarioReport]>([])
    private let (servers, announcing) = AsyncStream.makeStream(of: ServerAddresses.self)

    init(_ scenarios: [Scenario]) { self.scenarios = scenarios }

    /// What became of those that were run.
    var reports: [ScenarioReport] { done.withLock(\.self) }

    /// Begins.
    @Sendable func begin(_ addresses: ServerAddresses) { announcing.yield(addresses) }

    func run() async throws {
        var iterator = servers.cancelOnGracefulShutdown().makeAsyncIterator()
        guard let addresses = await iterator.next(), let port = addresses.sandboxPort else { return }
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: .seconds(5))
        let run = ScenarioRun(server: addresses.server, sandbox: "http://127.0.0.1:\(port)", transport: transport)
        do {
            for scenario in scenarios {
                let report = try await run.run(scenario)
                StandardOutput.announce(report.text)
                done.withLock { $0.append(report) }
            }
        } catch {
            try await transport.shutdown()
            throw error
        }
        try await transport.shutdown()
    }
}
