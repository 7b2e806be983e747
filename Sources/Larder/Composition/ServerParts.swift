import Foundation
import Logging
import NIOCore
import NIOPosix
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage
import UnixSignals

/// A server with its sandbox and its harness, if it has them. It is composed in the same way for a process and for a
/// space.
struct ServerParts: Sendable {
    /// The controls of a server under test.
    struct Control: Sendable {
        let harness: Harness
        /// Port of the sandbox; 0 for any free one.
        let port: Int
        /// Whether the sandbox simulates the upstreams, or has the controls only.
        let simulatesUpstreams: Bool
        /// The condition under which the upstreams start.
        var condition: HarnessCondition?
        /// The first data of the upstreams, by their names; empty for the built-in data.
        var upstreams: [String: Data] = [:]
    }

    let server: LarderServer
    let sandbox: Sandbox?

    /// - Parameters:
    ///   - directory: Locked before anything listens, so that a directory in use is reported in one line.
    ///   - isPrepared: Whether this process has made its files.
    ///   - control: Nil for a server that is not under test.
    ///   - announced: Is called when the server listens.
    ///   - stopping: Is called when the server begins to stop.
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
                    seed: configuration.settings[ServerSettings.sandboxSeed],
                    simulatesUpstreams: control.simulatesUpstreams,
                    documents: configuration.apps.simulations,
                    condition: control.condition
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

    /// Returns the services of the server. The last one stops first: the sandbox outlives the server that uses it, even
    /// if the server cannot start.
    ///
    /// - Parameters:
    ///   - beside: Further services, which stop before the server.
    ///   - stopTime: How long running requests may take after the signal to stop.
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

/// The port that the sandbox used with a data directory. Stored responses are found by the address of their upstream,
/// so the sandbox must use the same port again: otherwise no response from before a restart would be found.
struct SandboxPort {
    private let file: URL

    init(in dataDirectory: URL) {
        file = dataDirectory.appending(path: "sandbox.port")
    }

    /// Returns the last port; 0, for any free one, if there was none or if another process uses it.
    func last() async -> Int {
        guard let port = noted, await Self.isFree(port) else { return 0 }
        return port
    }

    /// The port in the file; nil if there is none.
    var noted: Int? {
        guard let text = try? String(contentsOf: file, encoding: .utf8),
            let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)), (1...65535).contains(port)
        else { return nil }
        return port
    }

    /// Stores the port for the next start. If that fails, the next start will not find the stored responses.
    func note(_ port: Int, logger: Logger) {
        do {
            try Data("\(port)\n".utf8).write(to: file, options: .atomic)
        } catch {
            logger.warning(
                "the sandbox's port could not be noted: its next one may be another",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private static func isFree(_ port: Int) async -> Bool {
        do {
            let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).serverChannelOption(
                .socketOption(.so_reuseaddr),
                value: 1
            )
            try await bootstrap.bind(host: "127.0.0.1", port: port).get().close()
            return true
        } catch {
            return false
        }
    }
}
