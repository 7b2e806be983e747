import AppTestKit
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Storage
import Upstream

@testable import Screens
@testable import Ships

/// The real routes of the app over a scripted upstream, a temporary database and a clock that a test moves.
struct ShipsApp: Sendable {
    let clock: ManualWallClock
    let transport: ScriptedTransport
    let events: EventStream
    let database: LarderDatabase
    let upstream: Upstream
    private let client: any TestClientProtocol

    /// Runs a test against the app. The bundled snapshot of three ships is there unless another one is given.
    static func run(
        _ transport: ScriptedTransport = ScriptedTransport(),
        clock: ManualWallClock = ManualWallClock(),
        directory: DataDirectory? = nil,
        snapshot: ShipSnapshot? = nil,
        options: ShipService.Options = .init(loginDelay: .zero),
        _ test: @Sendable (ShipsApp) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try LarderDatabase(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + ShipStore.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let upstream = Upstream(
            configuration: try configuration,
            transport: transport,
            database: database,
            clock: clock.wallClock,
            jitter: { 0.5 },
            retries: RetryPolicy(attempts: 1),
            logger: logger
        )
        upstream.onChange { change in
            switch change {
            case .wentDown(let at): events.publish(.connectivity(upstream: "spacex", reachable: false, at: at))
            case .cameBack(let at): events.publish(.connectivity(upstream: "spacex", reachable: true, at: at))
            }
        }
        let sessions = SessionStore(database)
        let service = ShipService(
            api: SpaceXAPI(upstream: upstream, freshness: .seconds(5)),
            store: ShipStore(database),
            sessions: sessions,
            events: events,
            snapshot: try snapshot
                ?? ShipFixtures.snapshot([
                    ShipFixtures.carl, ShipFixtures.alma, ShipFixtures.record("5a", "Snapshot Only"),
                ]),
            options: options,
            clock: clock.wallClock
        )
        upstream.onRecovery { await service.refreshAfterRecovery(logger: logger) }
        let router = ScreenRouter(
            table: RouteTable(ShipsRoutes(service: service).routes),
            sessions: sessions,
            hosts: HostRules(boundHost: "127.0.0.1", allowed: []),
            origins: OriginRules(allowed: []),
            run: "test"
        )
        try await Application(router: router.build(), logger: logger).test(.router) { client in
            try await test(
                ShipsApp(
                    clock: clock,
                    transport: transport,
                    events: events,
                    database: database,
                    upstream: upstream,
                    client: client
                )
            )
        }
        upstream.stop()
        try database.close()
    }

    private static var configuration: UpstreamConfiguration {
        get throws {
            guard let url = URL(string: "https://api.test") else { throw URLError(.badURL) }
            return UpstreamConfiguration(name: "spacex", title: "SpaceX", baseURL: url, allowedHosts: ["pictures.test"])
        }
    }

    var store: ShipStore { ShipStore(database) }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String? = nil,
        _ headerFields: HTTPFields = [:],
        body: String? = nil
    ) async throws -> Exchanged {
        var fields = headerFields
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let response = try await client.executeRequest(
            uri: target,
            method: method,
            headers: fields,
            body: body.map { ByteBuffer(string: $0) }
        )
        return Exchanged(
            status: response.status.code,
            headerFields: response.headers,
            body: Data(response.body.readableBytesView)
        )
    }

    func get(_ target: String, as token: String? = nil, _ headerFields: HTTPFields = [:]) async throws -> Exchanged {
        try await ask(.get, target, as: token, headerFields)
    }

    /// Logs in and returns the token.
    func logIn(_ username: String = "example@domain.com") async throws -> String {
        try token(
            of: await ask(
                .post,
                "/v1/ships/session",
                body: #"{"mode":"login","username":"\#(username)","password":"secret"}"#
            )
        )
    }

    func enterAsGuest() async throws -> String {
        try token(of: await ask(.post, "/v1/ships/session", body: #"{"mode":"guest"}"#))
    }

    private struct NoToken: Error { let response: String }

    private func token(of response: Exchanged) throws -> String {
        guard case .string(let token) = response["data.token"] else { throw NoToken(response: response.text) }
        return token
    }

    /// Every event published so far.
    var published: [ServerEvent] { listen { $0.missed.map(\.event) } }

    private func listen<Value>(_ body: (EventStream.Subscription) throws -> Value) rethrows -> Value {
        let subscription = events.subscribe(lastEventID: "test-0")
        defer { events.unsubscribe(subscription.number) }
        return try body(subscription)
    }

    /// Returns as soon as an event of this kind and text has been published.
    func published(_ kind: String, containing text: String) async {
        let subscription = events.subscribe(lastEventID: "test-0")
        defer { events.unsubscribe(subscription.number) }
        let matches = { (event: ServerEvent) in event.kind == kind && event.json.contains(text) }
        if subscription.missed.contains(where: { matches($0.event) }) { return }
        for await message in subscription.messages {
            if case .event(_, let event) = message, matches(event) { return }
        }
    }

    /// The upstream answers again, and the probe finds out. The probe waits the 5 s of `probe_interval_ms`.
    func recover(_ behaviour: ScriptedTransport.Behaviour = .ships(ShipFixtures.fleet)) async {
        await clock.somebodySleeps(for: .seconds(5))
        transport.become(behaviour)
        clock.advance(by: .seconds(5))
        await published("connectivity", containing: #""reachable":true"#)
    }
}
