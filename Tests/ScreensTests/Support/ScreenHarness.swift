import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Server
import Storage
import TestKit
import Upstream

@testable import Screens

/// A router over a made-up table, called as the server calls it.
struct ScreenHarness {
    let sessions: SessionStore
    let database: LarderDatabase
    /// Receives the lines of requests.
    var logger = Logger.quiet
    let outages: StoreOutages
    private let responder: RouterResponder<ScreenContext>

    init(
        _ routes: [Route],
        origins: [String] = [],
        hosts: [String] = [],
        proxies: TrustedProxies = .none,
        clock: WallClock = .system
    ) throws {
        try self.init(origins: origins, hosts: hosts, proxies: proxies, clock: clock) { _ in routes }
    }

    /// For routes that need the sessions of this harness.
    init(
        origins: [String] = [],
        hosts: [String] = [],
        proxies: TrustedProxies = .none,
        clock: WallClock = .system,
        routes: (SessionStore) -> [Route]
    ) throws {
        database = try LarderDatabase.temporary(migrations: SessionStore.migrations)
        sessions = SessionStore(UserDatabase(database), clock: clock)
        let router = ScreenRouter(
            table: RouteTable(routes(sessions)),
            sessions: sessions,
            hosts: HostRules(boundHost: "127.0.0.1", allowed: hosts),
            origins: OriginRules(allowed: origins),
            identities: RequestIdentities(run: "run"),
            proxies: proxies
        )
        (outages, responder) = (router.outages, router.router.buildResponder())
    }

    /// A response that was read to its end.
    struct Served {
        let status: HTTPResponse.Status
        let fields: HTTPFields
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as a JSON object.
        func json() throws -> JSON { try JSON(body) }
        /// The `code` of a problem.
        func code() throws -> String? {
            guard fields[.contentType] == "application/problem+json; charset=utf-8" else { return nil }
            return try json().code.string
        }
    }

    func respond(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ fields: HTTPFields = [:],
        body: RequestBody = RequestBody(buffer: ByteBuffer()),
        authority: String? = "localhost:8080",
        peer: String? = nil
    ) async throws -> Response {
        let head = HTTPRequest(method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
        var context = ScreenContext(source: .init(channel: NIOAsyncTestingChannel(), logger: logger))
        context.clientAddress = peer.flatMap { IPAddress($0) }
        return try await responder.respond(to: Request(head: head, body: body), context: context)
    }

    func serve(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ fields: HTTPFields = [:],
        body: String = "",
        authority: String? = "localhost:8080",
        peer: String? = nil
    ) async throws -> Served {
        let response = try await respond(
            method,
            path,
            fields,
            body: RequestBody(buffer: ByteBuffer(string: body)),
            authority: authority,
            peer: peer
        )
        let writer = Plate()
        try await response.body.write(writer)
        return Served(status: response.status, fields: response.headers, body: writer.bytes)
    }
}

/// Collects a body while it is written.
final class Plate: ResponseBodyWriter, Sendable {
    private let collected = NIOLockedValueBox(Data())

    var bytes: Data { collected.withLockedValue { $0 } }

    func write(_ buffer: ByteBuffer) async throws {
        collected.withLockedValue { $0.append(contentsOf: buffer.readableBytesView) }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// A moment that all made data counts from: 2026-01-05 10:00:00 UTC.
let ten = Date(timeIntervalSince1970: 1_767_607_200)

/// A response of these bytes.
func plain(_ text: String, type: String = MediaType.json) -> ScreenResponse {
    ScreenResponse(headerFields: [.cacheControl: "private, no-cache"], body: .bytes(Data(text.utf8), type: type))
}
