import AppInterface
import Foundation
import HTTPTypes
import Logging
import NIOPosix
import SharedStore
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

/// Checks the store that several servers share, and changes nothing.
enum StoreCheck {
    static func finding(_ configuration: StoreConfiguration, _ apps: AppList) async -> Check {
        let database = SharedDatabase(
            configuration.options,
            logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        )
        defer { database.close() }
        do {
            let seal = try configuration.seal()
            let missing = try await database.missing(of: apps.sharedMigrations)
            let state = missing.isEmpty ? "with the tables of this build" : "larder serve will add tables to it"
            // The tables are there if none is missing.
            if missing.isEmpty, apps.sealsSharedSecrets, let seal, try await !seal.isRecorded(in: database) {
                throw SharedSeal.WrongKey()
            }
            let ahead = Date().timeIntervalSince(try await database.time())
            guard abs(ahead) <= RetentionClock.tolerance else {
                let detail = "PostgreSQL responds; \(state); this machine's clock is \(Int(ahead)) s ahead of its clock"
                return Check("store", .degraded, detail)
            }
            return Check("store", .well, "PostgreSQL responds; \(state)")
        } catch {
            return Check("store", .broken, "\(error)")
        }
    }
}
