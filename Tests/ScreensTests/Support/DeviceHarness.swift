import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import Server
import Storage
import TestKit
import Testing

@testable import Screens

/// A router with the routes of devices and one with data, for clients here and elsewhere.
struct DeviceHarness {
    /// How a client sends its requests.
    struct Visitor {
        var peer = "192.168.1.7"
        var authority = "larder.test"
        var fields: HTTPFields = [:]

        static let local = Visitor(peer: "127.0.0.1", authority: "localhost:8080")
        static let phone = Visitor()

        static func device(_ token: String) -> Visitor { Visitor(fields: [.larderDevice: token]) }
    }

    let clock = ManualClock()
    let database: LarderDatabase
    let sessions: SessionStore
    let devices: DeviceStore
    let events: EventStream
    private let responder: RouterResponder<ScreenContext>

    init(
        _ mode: AccessRules.Mode = .pairing,
        operatorKey: OperatorKey? = nil,
        file: PairingCodeFile? = nil,
        in database: LarderDatabase? = nil
    ) throws {
        let database =
            try database ?? LarderDatabase.temporary(migrations: SessionStore.migrations + DeviceStore.migrations)
        self.database = database
        sessions = SessionStore(UserDatabase(database))
        devices = try DeviceStore(database, clock: clock.wallClock)
        events = EventStream(run: "r", clock: clock.wallClock)
        let routes = DeviceRoutes(
            devices: devices,
            codes: Pairing(devices: devices, file: file, clock: clock.wallClock),
            mode: mode,
            address: "https://larder.test",
            events: events
        )
        var table = RouteTable(routes.routes)
        table.add(EventRoutes(events: events, sessions: sessions, apps: ["shop"]).routes)
        table.add(
            [
                Route(.get, "/v1/shop/mine", "mine") { request in
                    var response = plain(#"{"profile":"\#(try request.profile())"}"#)
                    response.changeToken = .unlimited
                    return response
                }
                .query("profile")
            ]
        )
        table.pairingPage = { _ in
            ScreenResponse(status: .unauthorized, body: .bytes(Data("<p>".utf8), type: "text/html"))
        }
        responder = ScreenRouter(
            table: table,
            sessions: sessions,
            hosts: HostRules(boundHost: "127.0.0.1", allowed: ["larder.test"]),
            origins: OriginRules(allowed: ["https://shop.example"]),
            identities: RequestIdentities(run: "run"),
            access: AccessRules(
                mode,
                operatorKey: operatorKey,
                origins: OriginRules(allowed: ["https://shop.example"])
            ),
            devices: devices
        ).router.buildResponder()
    }

    /// Sends a request; gives the response, and for how long it may be kept.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        as visitor: Visitor,
        _ fields: HTTPFields = [:],
        json: String = ""
    ) async throws -> (response: ScreenHarness.Served, changeToken: ChangeToken?) {
        var all = visitor.fields
        for field in fields { all.append(field) }
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: visitor.authority,
            path: path,
            headerFields: all
        )
        var context = ScreenContext(source: .init(channel: NIOAsyncTestingChannel(), logger: .quiet))
        context.clientAddress = IPAddress(visitor.peer)
        let body = RequestBody(buffer: ByteBuffer(string: json))
        let response = try await responder.respond(to: Request(head: head, body: body), context: context)
        let plate = Plate()
        try await response.body.write(plate)
        let served = ScreenHarness.Served(status: response.status, fields: response.headers, body: plate.bytes)
        return (served, context.annotations.values.changeToken)
    }

    /// Makes a code, as the control room does.
    func code(profile: String? = nil) async throws -> String {
        let body = profile.map { #"{"profile":"\#($0)"}"# } ?? ""
        let made = try await send(.post, "/v1/pairing/code", as: .local, json: body).response
        return try #require(try made.data().code.string, "\(made.text)")
    }

    func pair(_ code: String, name: String = "Phone", as visitor: Visitor = .phone, _ fields: HTTPFields = [:])
        async throws -> ScreenHarness.Served
    {
        let body = #"{"code":"\#(code)","name":"\#(name)"}"#
        return try await send(.post, "/v1/pairing", as: visitor, fields, json: body).response
    }

    /// Pairs a device; returns its header fields from then on, and its identity.
    func paired(profile: String? = nil) async throws -> (visitor: Visitor, id: String) {
        let served = try await pair(try await code(profile: profile))
        let data = try served.data()
        let id = try #require(data.device.id.string, "\(served.text)")
        return (.device(try #require(data.token.string)), id)
    }
}

extension ScreenHarness.Served {
    /// `data` of a screen.
    func data() throws -> JSON { try json().data }
}
