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

    /// The address cannot be listened on.
    struct CannotListen: Error, CustomStringConvertible {
        let host: String
        let port: Int
        let reason: String

        var description: String {
            "cannot listen on \(host):\(port): \(reason); http.host and http.port set the address"
        }
    }

    let configuration: LarderConfiguration
    let sandbox: Sandbox?
    let metrics: PrometheusRegistry
    let logger: Logger

    func run() async throws {
        let configuration = try await simulatingUpstreams()
        let http = configuration.http
        let built = try await LarderApplication.build(
            configuration,
            metrics: metrics,
            onListening: { announce($0, host: http.host) },
            logger: logger
        )
        do {
            // Now the data directory is this process's own.
            if let sandbox { SandboxPort(in: configuration.dataDirectory).note(try await sandbox.port, logger: logger) }
            try await withGracefulShutdownHandler {
                try await built.application.run()
            } onGracefulShutdown: {
                logger.notice("stopping gracefully: requests under way may finish")
                // After their time, requests are cancelled; some moments later that has not helped.
                StopDeadline(timeout: http.stopTimeout + .seconds(5), logger: logger).begin()
            }
        } catch {
            try await built.close()
            throw error is any ChannelErrorLike
                ? CannotListen(host: http.host, port: http.port, reason: "\(error)") : error
        }
        try await built.close()
        logger.notice("stopped")
    }

    /// Returns the configuration with the addresses of the sandbox, once it listens, and prints where it is.
    private func simulatingUpstreams() async throws -> LarderConfiguration {
        var configuration = self.configuration
        guard let sandbox else { return configuration }
        for upstream in SandboxUpstream.allCases {
            guard let url = URL(string: try await sandbox.baseURL(of: upstream)) else { continue }
            try configuration.upstreams.simulate(upstream.rawValue, at: url)
        }
        StandardOutput.write("sandbox on http://127.0.0.1:\(try await sandbox.port)/_sandbox\n")
        return configuration
    }

    /// Prints the line that programs wait for.
    @Sendable private func announce(_ address: SocketAddress?, host: String) {
        let name = host.contains(":") ? "[\(host)]" : host
        StandardOutput.write("listening on http://\(name):\(address?.port ?? configuration.http.port)\n")
    }
}

/// What NIO throws when it cannot bind.
private protocol ChannelErrorLike: Error {}
extension IOError: ChannelErrorLike {}
extension SocketAddressError: ChannelErrorLike {}
extension SocketAddressError.UnknownHost: ChannelErrorLike {}
