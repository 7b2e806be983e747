import Foundation
import HTTPTypes
import NIOPosix
import Upstream

/// Checks an upstream: one request, with the upstream's own timeouts.
enum UpstreamCheck {
    static func finding(_ configuration: UpstreamConfiguration) async throws -> Check {
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: configuration.connectTimeout)
        let finding = await finding(configuration, transport)
        try await transport.shutdown()
        return finding
    }

    private static func finding(_ configuration: UpstreamConfiguration, _ transport: some Transport) async -> Check {
        let subject = "upstream \(configuration.name)"
        let url = configuration.url(of: configuration.probePath)
        let limits = TransportLimits(
            total: configuration.totalTimeout,
            maximumBytes: configuration.maximumResponseBytes,
            publicAddressesOnly: false
        )
        do throws(UpstreamError) {
            let response = try await transport.exchange(OutgoingRequest(url: url), within: limits)
            let code = response.status.code
            return Check(subject, code < 500 ? .well : .degraded, "\(url) responds with \(code)")
        } catch {
            switch error {
            case .unreachable(let reason):
                return Check(subject, .degraded, "\(url) cannot be reached (\(reason.rawValue))")
            default: return Check(subject, .degraded, "\(url): \(error)")
            }
        }
    }
}
