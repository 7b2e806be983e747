import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import Metrics
import NIOCore
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Storage
import UnixSignals
import Upstream

/// The server as a service: waits for its sandbox if it has one, serves, and closes everything at the end.
struct LarderServer: Service, CustomStringConvertible {
    /// The lifecycle logs this at debug level, so it must not contain the configuration, which has secrets.
    var description: String { "LarderServer" }

    let configuration: LarderConfiguration
    /// Locked before anything listens.
    let directory: DataDirectory
    /// Whether this process has made its files.
    let isPrepared: Bool
    let sandbox: Sandbox?
    /// Whether the sandbox replaces the upstreams.
    let simulatesUpstreams: Bool
    /// Controls the server; nil for one that is not under test.
    let harness: Harness?
    /// Is called when the server listens.
    let announced: @Sendable (ServerAddresses) -> Void
    /// Is called when the server begins to stop.
    let stopping: @Sendable () -> Void
    let metrics: PrometheusRegistry
    let logger: Logger

    func run() async throws {
        let configuration = try await simulatingUpstreams()
        let sandboxPort = try await sandbox?.port
        let served = sandbox.flatMap { sandbox in sandboxPort.map { (sandbox, $0) } }
        let built = try await LarderApplication.build(
            configuration,
            in: directory,
            isPrepared: isPrepared,
            sandbox: served,
            harness: harness,
            metrics: metrics,
            onListening: { announce($0, names: $1, sandboxPort: sandboxPort) },
            logger: logger
        )
        // Snapshots of a process that was killed.
        try Snapshots.removeAll(in: directory)
        resetting(built, configuration, served)
        // Handled before anything listens, so that the signal never ends the process.
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
            let (host, port) = (configuration.settings[HTTPSettings.host], configuration.settings[HTTPSettings.port])
            throw CannotListen(host: host, port: port, cause: error) ?? error
        }
        try await close(built)
        logger.notice("stopped")
    }

    /// Lets a reset of the harness, or the return to real time, build a new server.
    private func resetting(
        _ built: LarderApplication,
        _ configuration: LarderConfiguration,
        _ sandbox: (sandbox: Sandbox, port: Int)?
    ) {
        harness?.begin(built) { contents in
            var configuration = configuration
            if let contents {
                try directory.replaceAll(by: contents)
                // The data of a test need not survive a power failure.
                configuration.isDurable = false
            }
            return try await LarderApplication.build(
                configuration,
                in: directory,
                isPrepared: contents != nil,
                sandbox: sandbox,
                harness: harness,
                replacing: built,
                metrics: metrics,
                onListening: { _, _ in },
                logger: logger
            )
        }
    }

    /// Closes the present server, which may be one that a reset has built.
    private func close(_ built: LarderApplication) async throws {
        guard let harness else { return try await built.close() }
        try await harness.closeRelay()
        try await harness.close { [sandbox] in try sandbox?.export() ?? [:] }
        try Snapshots.removeAll(in: directory)
    }

    /// Returns the configuration with the addresses of the sandbox, after the sandbox has begun to listen.
    private func simulatingUpstreams() async throws -> LarderConfiguration {
        var configuration = self.configuration
        guard let sandbox, simulatesUpstreams else { return configuration }
        for upstream in SandboxUpstream.allCases.map(\.rawValue) + configuration.apps.simulations.keys {
            guard let url = URL(string: try await sandbox.baseURL(of: upstream)) else { continue }
            configuration.upstreams.simulate(upstream, at: url)
        }
        return configuration
    }

    /// Announces the addresses when the server listens. A start may fail before.
    @Sendable private func announce(
        _ address: SocketAddress?,
        names: CertificateNames?,
        sandboxPort: Int?
    ) {
        let settings = configuration.settings
        let (host, port) = (settings[HTTPSettings.host], address?.port ?? settings[HTTPSettings.port])
        let name = host.contains(":") ? "[\(host)]" : host
        let hasPages = settings[ServerSettings.webEnabled]
        announced(
            ServerAddresses(
                server: "\(configuration.scheme)://\(name):\(port)",
                pages: hasPages ? PageAddress.url(of: configuration, names, port: port) : nil,
                sandboxPort: sandboxPort
            )
        )
    }
}

extension HTTPServerBuilder {
    /// Larder's own connections: limits and deadlines, and closing before Hummingbird's.
    static func larder(
        limits: ConnectionLimits,
        _ connections: OpenConnections,
        _ responseCache: ResponseCache?,
        _ table: RouteTable,
        tls: TLSOptions?,
        metrics: PrometheusRegistry
    ) -> HTTPServerBuilder {
        // Event loops are shared by all servers of the process.
        @Sendable func count(_ label: String, _ dimension: (String, String)) {
            PrometheusRegistry.$current.withValue(metrics) {
                Counter(label: label, dimensions: [dimension]).increment()
            }
        }
        return HTTPServerBuilder { responder in
            LarderHTTPChannel(
                responder: responder,
                limits: limits,
                problem: table.content(of:_:),
                onRefusal: { refusal in
                    count("larder_http_refusals_total", ("code", ProblemCode(refusal.reason).rawValue))
                },
                onAbruptClose: { close in
                    count("larder_http_cuts_total", ("reason", close.rawValue))
                },
                connections: connections,
                responseCache: responseCache,
                tls: tls
            )
        }
    }
}

/// The server cannot listen at its address.
struct CannotListen: Error, CustomStringConvertible {
    let host: String
    let port: Int
    let reason: String

    /// - Parameter cause: The error of the bind.
    /// - Returns: nil if the address is not the reason.
    init?(host: String, port: Int, cause: any Error) {
        switch cause {
        case let error as IOError: reason = Self.reason(ofCode: error.errnoCode)
        case is SocketAddressError, is SocketAddressError.UnknownHost: reason = "there is no such host"
        default: return nil
        }
        self.host = host
        self.port = port
    }

    var description: String {
        "cannot listen on \(host):\(port): \(reason); http.host and http.port set the address"
    }

    /// Says why bind(2) or listen(2) failed.
    private static func reason(ofCode code: Int32) -> String {
        switch code {
        case EADDRINUSE: "another program listens there"
        case EADDRNOTAVAIL: "this machine does not have that address"
        case EACCES, EPERM: "the system does not allow it; ports below 1024 need a right"
        case EAFNOSUPPORT: "this machine has no addresses of that kind"
        default: "the system refuses it (error \(code))"
        }
    }
}

/// Reads the certificate again at each SIGHUP, and logs the result.
struct CertificateReload: Sendable {
    /// A warning is logged if the certificate expires within this time. Renewal is due after two thirds of the 90 days
    /// for which public authorities issue certificates.
    static let warningTime: TimeInterval = 21 * 86_400

    private let certificate: ServedCertificate
    private let signals: UnixSignalsSequence
    private let logger: Logger

    /// Handles the signal, which would otherwise end the process.
    init(of certificate: ServedCertificate, logger: Logger) async {
        self.certificate = certificate
        self.logger = logger
        signals = await UnixSignalsSequence(trapping: .sighup)
        report("a TLS certificate is served")
    }

    /// Waits for signals until the server stops.
    func run() async {
        for await _ in signals.cancelOnGracefulShutdown() {
            do throws(CertificateError) {
                try certificate.reload(now: Date())
                report("the TLS certificate was read again")
            } catch {
                logger.error("the TLS certificate stays as it was", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func report(_ event: Logger.Message) {
        let (now, served) = (Date(), certificate.current)
        let end = CertificateError.text(of: served.notAfter)
        let names = served.names.all.joined(separator: " ")
        logger.notice(event, metadata: ["names": "\(names)", "until": "\(end)"])
        if served.isKeyPublic { logger.warning("every user of this machine may read the key of the certificate") }
        if served.notAfter.timeIntervalSince(now) < Self.warningTime {
            logger.warning("the TLS certificate ends soon", metadata: ["until": "\(end)"])
        }
    }
}

/// The address at which a browser on this machine finds the pages.
struct PageAddress {
    /// A name of the loopback interface (RFC 6761 §6.3) for Larder alone. Cookies of a host are sent to all of its
    /// ports, and other servers use `localhost`.
    static let ownHost = "larder.localhost"

    private static let loopback: Set<String> = ["127.0.0.1", "::1", "localhost", "0.0.0.0", "::"]

    /// - Parameters:
    ///   - names: The names of the certificate; nil without one.
    ///   - port: The port that is listened at.
    static func url(of configuration: LarderConfiguration, _ names: CertificateNames?, port: Int) -> String {
        if let origin = configuration.publicURL?.origin { return "\(origin)/" }
        let host = host(of: configuration.settings[HTTPSettings.host], names)
        return "\(configuration.scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// Returns the host. With a certificate it is one of the certificate's names, if possible, because a browser
    /// refuses all others.
    private static func host(of bound: String, _ names: CertificateNames?) -> String {
        let preferred = loopback.contains(bound) ? [ownHost, "localhost", "127.0.0.1", "::1"] : [bound]
        guard let names else { return preferred[0] }
        return preferred.first(where: names.contains) ?? names.all.first { !$0.hasPrefix("*") } ?? preferred[0]
    }
}

/// The addresses of a server and its sandbox.
struct ServerAddresses: Sendable {
    /// Scheme, host and port of the server.
    let server: String
    /// The address of the front end; nil if it is not served.
    let pages: String?
    /// Port of the sandbox; nil if there is none.
    let sandboxPort: Int?

    /// Scheme, host and port of the sandbox.
    var sandbox: String? { sandboxPort.map { "http://127.0.0.1:\($0)" } }

    /// Prints the lines that programs wait for.
    func print() {
        let sandbox = sandbox.map { "sandbox on \($0)/_sandbox\n" } ?? ""
        let pages = pages.map { "pages on \($0)\n" } ?? ""
        StandardOutput.announce("\(sandbox)\(pages)listening on \(server)\n")
    }
}
