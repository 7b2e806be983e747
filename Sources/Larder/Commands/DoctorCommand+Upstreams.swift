import Foundation
import HTTPTypes
import NIOPosix
import Upstream

/// What the doctor finds of the upstreams: one request each, with the upstream's own time-outs.
enum UpstreamExamination {
    static func findings(_ configurations: [UpstreamConfiguration]) async throws -> [Finding] {
        var findings: [Finding] = []
        for configuration in configurations {
            let transport = HTTPClientTransport(
                eventLoopGroup: .singleton,
                connectTimeout: configuration.connectTimeout
            )
            findings.append(await finding(configuration, transport))
            try await transport.shutdown()
        }
        return findings
    }

    private static func finding(_ configuration: UpstreamConfiguration, _ transport: some Transport) async -> Finding {
        let subject = "upstream \(configuration.name)"
        let url = configuration.url(of: configuration.probePath)
        let limits = TransportLimits(
            total: configuration.totalTimeout,
            maximumBytes: configuration.maximumAnswerBytes,
            publicAddressesOnly: false
        )
        do throws(UpstreamError) {
            let answer = try await transport.exchange(OutgoingRequest(url: url), within: limits)
            let code = answer.status.code
            return Finding(subject, code < 500 ? .well : .degraded, "\(url) answers \(code)")
        } catch {
            switch error {
            case .unreachable(let reason):
                return Finding(subject, .degraded, "\(url) cannot be reached (\(reason.rawValue))")
            default: return Finding(subject, .degraded, "\(url): \(error)")
            }
        }
    }
}
