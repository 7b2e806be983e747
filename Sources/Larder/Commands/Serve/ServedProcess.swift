import Database
import Foundation
import HTTPServer
import Logging
import Metrics
import NIOCore
import Sandbox
import ServiceLifecycle
import UnixSignals

/// A server in this process, with its sandbox if it has one, until the process gets a signal to stop.
struct ServedProcess {
    let configuration: LarderConfiguration
    /// Whether the upstreams are simulated.
    let simulatesUpstreams: Bool
    /// Whether tests control the server from the start.
    let isHarness: Bool
    /// Is called with the addresses once the server listens.
    var announced: @Sendable (ServerAddresses) -> Void = { $0.print() }
    /// Runs beside the server: when it ends, the server stops.
    var companion: (any Service)?

    /// Serves.
    /// - Throws: the errors of ``LarderServer``.
    func run() async throws {
        try await StartError.reporting { try AccessCheck.check(configuration.http) }
        let registry = PrometheusRegistry(families: MetricCatalogue.families)
        LarderLogHandler.bootstrap(configuration.log)
        MetricsSystem.bootstrap(registry)
        // Before any event loop is created.
        NIOSingletons.groupLoopCountSuggestion = ProcessorCount.available
        try await StartError.reporting { try await serve(registry) }
    }

    private func serve(_ metrics: PrometheusRegistry) async throws {
        let logger = Logger(label: "larder")
        // Before anything listens: a directory that is in use is said in one line.
        let directory = try DataDirectory(at: configuration.dataDirectory)
        let harness = simulatesUpstreams || isHarness ? Harness(clock: VirtualClock(configuration.clock)) : nil
        if isHarness { harness?.activate() }
        let sandbox: Sandbox? = if let harness { await self.sandbox(harness, logger) } else { nil }
        let server = LarderServer(
            configuration: configuration,
            directory: directory,
            sandbox: sandbox,
            simulatesUpstreams: simulatesUpstreams,
            harness: harness,
            announced: announced,
            metrics: metrics,
            logger: logger
        )
        // The last one stops first: the sandbox outlives the server that uses it, also one that cannot start.
        let services = [sandbox as (any Service)?, server, companion].compactMap { $0 }
        var group = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = configuration.http.stopTimeout
        try await ServiceGroup(configuration: group).run()
    }

    /// Returns a sandbox on the port that is set, or else on the one that it used last with this data directory.
    private func sandbox(_ harness: Harness, _ logger: Logger) async -> Sandbox {
        let port =
            configuration.sandbox.port != 0
            ? configuration.sandbox.port : await SandboxPort(in: configuration.dataDirectory).last()
        return Sandbox(
            configuration: .init(
                port: port,
                seed: configuration.sandbox.seed,
                simulatesUpstreams: simulatesUpstreams
            ),
            harness: harness,
            logger: logger
        )
    }
}
