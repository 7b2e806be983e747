import Database
import Foundation
import HTTPServer
import Logging
import Sandbox
import ServiceLifecycle
import UnixSignals

/// A server with its sandbox and its harness, if it has them: composed in the same way for a process and for a space
/// of one.
struct ServerParts: Sendable {
    /// What a server under test is controlled by.
    struct Control: Sendable {
        let harness: Harness
        /// Port of the sandbox; 0 for any free one.
        let port: Int
        /// Whether the sandbox simulates the upstreams, or has the controls only.
        let simulatesUpstreams: Bool
        /// The data with which they begin, by their names; none for those of the start.
        var upstreams: [String: Data] = [:]
    }

    let server: LarderServer
    let sandbox: Sandbox?

    /// Wires them.
    ///
    /// - Parameters:
    ///   - directory: Locked before anything listens: one that is in use is said in one line.
    ///   - isPrepared: Whether this process has made its files.
    ///   - control: Nil for a server that is not under test.
    ///   - announced: Is called once the server listens.
    ///   - stopping: Is called when it begins to stop.
    init(
        _ configuration: LarderConfiguration,
        in directory: DataDirectory,
        isPrepared: Bool = false,
        _ control: Control?,
        metrics: PrometheusRegistry,
        announced: @escaping @Sendable (ServerAddresses) -> Void,
        stopping: @escaping @Sendable () -> Void,
        logger: Logger
    ) {
        sandbox = control.map { control in
            Sandbox(
                configuration: .init(
                    port: control.port,
                    seed: configuration.sandbox.seed,
                    simulatesUpstreams: control.simulatesUpstreams
                ),
                harness: control.harness,
                upstreams: control.upstreams,
                logger: logger
            )
        }
        server = LarderServer(
            configuration: configuration,
            directory: directory,
            isPrepared: isPrepared,
            sandbox: sandbox,
            simulatesUpstreams: control?.simulatesUpstreams ?? false,
            harness: control?.harness,
            announced: announced,
            stopping: stopping,
            metrics: metrics,
            logger: logger
        )
    }

    /// Returns what runs the server. The last service stops first: the sandbox outlives the server that uses it, also
    /// one that cannot start.
    ///
    /// - Parameters:
    ///   - beside: Further services, which stop before the server.
    ///   - stopTime: How long the requests under way may take then.
    func group(
        beside: [any Service] = [],
        signals: [UnixSignal] = [],
        stopTime: Duration,
        logger: Logger
    ) -> ServiceGroup {
        let services = [sandbox as (any Service)?, server].compactMap { $0 } + beside
        var group = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: signals,
            logger: logger
        )
        group.maximumGracefulShutdownDuration = stopTime
        return ServiceGroup(configuration: group)
    }
}
