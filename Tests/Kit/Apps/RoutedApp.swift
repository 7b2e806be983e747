import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Server

@testable import Screens

/// Routes of an app behind the real router, in process: guards, sessions, rendering and problems are those of the
/// server.
struct RoutedApp: Sendable {
    private let client: any TestClientProtocol

    /// Runs a test against a table.
    static func run(
        _ table: RouteTable,
        sessions: SessionStore,
        _ test: @Sendable (RoutedApp) async throws -> Void
    ) async throws {
        let logger = Logger.quiet
        let router = ScreenRouter(
            table: table,
            sessions: sessions,
            hosts: HostRules(boundHost: "127.0.0.1", allowed: []),
            origins: OriginRules(allowed: []),
            identities: RequestIdentities(run: "test")
        )
        try await Application(router: router.router, logger: logger).test(.router) { client in
            try await test(RoutedApp(client: client))
        }
    }

    /// Sends a request. A body without a type is declared as JSON.
    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String?,
        _ headerFields: HTTPFields,
        body: Data?
    ) async throws -> Exchanged {
        var fields = headerFields
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let response = try await client.executeRequest(
            uri: target,
            method: method,
            headers: fields,
            body: body.map { ByteBuffer(bytes: $0) }
        )
        return Exchanged(
            status: response.status.code,
            headerFields: response.headers,
            body: Data(response.body.readableBytesView)
        )
    }
}
