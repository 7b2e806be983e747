import ArgumentParser
import Database
import Foundation
import HTTPServer
import Logging
import Metrics
import NIOCore
import Sandbox
import ServiceLifecycle
import Settings
import UnixSignals

/// `larder serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the apps.",
        discussion: """
            EXAMPLES
              larder serve --sandbox
              larder serve --http-port 8081 --data-directory ./data
              larder serve --upstreams-spacex-url http://127.0.0.1:9000/spacex --freshness-ships-s 0

            \(SettingsOptions.table)
            """
    )

    @Flag(name: .long, help: "Simulate the upstreams in this process and use them instead of the real ones.")
    var sandbox = false

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load(sandbox: sandbox)
        let registry = PrometheusRegistry(families: MetricCatalogue.families)
        LarderLogHandler.bootstrap(configuration.log)
        MetricsSystem.bootstrap(registry)
        // Before any event loop is created.
        NIOSingletons.groupLoopCountSuggestion = ProcessorCount.available
        try await StartError.reporting { try await serve(configuration, registry) }
    }

    private func serve(_ configuration: LarderConfiguration, _ metrics: PrometheusRegistry) async throws {
        let logger = Logger(label: "larder")
        // Before anything listens: a directory that is in use is said in one line.
        let directory = try DataDirectory(at: configuration.dataDirectory)
        let simulated = sandbox ? await Self.sandbox(configuration, logger) : nil
        let server = LarderServer(
            configuration: configuration,
            directory: directory,
            sandbox: simulated,
            metrics: metrics,
            logger: logger
        )
        // The last one stops first: the sandbox outlives the server that uses it, also one that cannot start.
        let services: [any Service] = (simulated.map { [$0] } ?? []) + [server]
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
    private static func sandbox(_ configuration: LarderConfiguration, _ logger: Logger) async -> Sandbox {
        let port =
            configuration.sandbox.port != 0
            ? configuration.sandbox.port : await SandboxPort(in: configuration.dataDirectory).last()
        return Sandbox(configuration: .init(port: port, seed: configuration.sandbox.seed), logger: logger)
    }
}
