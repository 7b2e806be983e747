import Certificates
import Database
import Foundation
import HTTPServer
import Hummingbird
import Logging
import NIOCore
import Sandbox
import Screens
import ServiceLifecycle
import Upstream

/// The server as a service: waits for its sandbox if it has one, serves, and closes everything in the end.
struct LarderServer: Service, CustomStringConvertible {
    /// Logged by the lifecycle at debug level: never the configuration, which has secrets.
    var description: String { "LarderServer" }

    let configuration: LarderConfiguration
    /// Locked before anything listens.
    let directory: DataDirectory
    /// Whether this process has made its files.
    let isPrepared: Bool
    let sandbox: Sandbox?
    /// Whether the sandbox takes the place of the upstreams.
    let simulatesUpstreams: Bool
    /// Controls the server; nil for one that is not under test.
    let harness: Harness?
    /// Is called once it listens.
    let announced: @Sendable (ServerAddresses) -> Void
    /// Is called when it begins to stop.
    let stopping: @Sendable () -> Void
    let metrics: PrometheusRegistry
    let logger: Logger

    func run() async throws {
        let configuration = try await simulatingUpstreams()
        let (http, sandboxPort) = (configuration.http, try await sandbox?.port)
        let served = sandbox.flatMap { sandbox in sandboxPort.map { (sandbox, $0) } }
        let built = try await LarderApplication.build(
            configuration,
            in: directory,
            isPrepared: isPrepared,
            sandbox: served,
            harness: harness,
            metrics: metrics,
            onListening: { announce($0, http, names: $1, sandboxPort: sandboxPort) },
            logger: logger
        )
        // Of a process that was killed.
        try SnapshotFolder.remove(in: directory)
        harness?.begin(built) { contents in
            try directory.replaceAll(by: contents)
            // What a test resets need not survive a loss of power.
            var configuration = configuration
            configuration.isDurable = false
            return try await LarderApplication.build(
                configuration,
                in: directory,
                isPrepared: contents.isMadeHere,
                sandbox: served,
                harness: harness,
                replacing: built,
                metrics: metrics,
                onListening: { _, _ in },
                logger: logger
            )
        }
        // Before anything listens, so that the signal never ends the process.
        let reload: CertificateReload? =
            if let certificate = built.certificate {
                await CertificateReload(of: certificate, logger: logger)
            } else { nil }
        do {
            async let _ = reload?.run()
            if let sandboxPort { SandboxPort(in: configuration.dataDirectory).note(sandboxPort, logger: logger) }
            try await withGracefulShutdownHandler {
                try await built.application.run()
            } onGracefulShutdown: {
                stopping()
            }
        } catch {
            try await close(built)
            throw CannotListen(host: http.host, port: http.port, cause: error) ?? error
        }
        try await close(built)
        logger.notice("stopped")
    }

    /// Closes the server as it is now.
    private func close(_ built: LarderApplication) async throws {
        guard let harness else { return try await built.close() }
        try await harness.closeRelay()
        try await harness.close { [sandbox] in try sandbox?.export() ?? [:] }
        try SnapshotFolder.remove(in: directory)
    }

    /// Returns the configuration with the addresses of the sandbox, once it listens.
    private func simulatingUpstreams() async throws -> LarderConfiguration {
        var configuration = self.configuration
        guard let sandbox, simulatesUpstreams else { return configuration }
        for upstream in SandboxUpstream.allCases {
            guard let url = URL(string: try await sandbox.baseURL(of: upstream)) else { continue }
            try configuration.upstreams.simulate(upstream.rawValue, at: url)
        }
        return configuration
    }

    /// Tells where it listens; no sooner, since a start may fail until then.
    @Sendable private func announce(
        _ address: SocketAddress?,
        _ http: HTTPConfiguration,
        names: CertificateNames?,
        sandboxPort: Int?
    ) {
        let port = address?.port ?? http.port
        let name = http.host.contains(":") ? "[\(http.host)]" : http.host
        announced(
            ServerAddresses(
                server: "\(http.scheme)://\(name):\(port)",
                pages: configuration.web.isEnabled ? PageAddress.url(of: http, names, port: port) : nil,
                sandboxPort: sandboxPort
            )
        )
    }
}
