import AppTestKit
import Database
import Foundation
import HTTPTypes
import Logging
import ResponseStore
import TestKit
import Upstream

@testable import Screens
@testable import Ships

/// The real routes of the app over a scripted API, a temporary database and a clock that a test moves.
struct ShipsHarness: Sendable {
    let clock: ManualWallClock
    let spaceX: ScriptedSpaceX
    let events: EventStream
    let database: LarderDatabase
    let upstream: Upstream
    private let app: RoutedApp

    /// Runs a test against the app. The bundled snapshot has three ships unless another one is given.
    static func run(
        _ spaceX: ScriptedSpaceX = ScriptedSpaceX(),
        clock: ManualWallClock = ManualWallClock(),
        directory: DataDirectory? = nil,
        snapshot: ShipSnapshot? = nil,
        options: ShipsApp.Options = .init(loginDelay: .zero),
        _ test: @Sendable (ShipsHarness) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try LarderDatabase.withCacheTables(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + ShipsApp.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let upstream = Upstream(
            configuration: try configuration,
            transport: spaceX.upstream,
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
        let ships = ShipsApp(
            api: SpaceXAPI(upstream: upstream, freshness: .seconds(5)),
            store: ShipStore(database),
            sessions: sessions,
            events: ShipListEvents(stream: events),
            snapshot: try snapshot ?? ShipFixtures.snapshot(ShipFixtures.bundled),
            options: options,
            clock: clock.wallClock,
            logger: logger
        )
        upstream.onRecovery { await ships.upstreamRecovered(ShipsApp.spacex) }
        try await RoutedApp.run(RouteTable(ships.routes), sessions: sessions) { app in
            try await test(
                ShipsHarness(
                    clock: clock,
                    spaceX: spaceX,
                    events: events,
                    database: database,
                    upstream: upstream,
                    app: app
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
        try await app.ask(method, target, as: token, headerFields, body: body.map { Data($0.utf8) })
    }

    func get(_ target: String, as token: String? = nil, _ headerFields: HTTPFields = [:]) async throws -> Exchanged {
        try await app.get(target, as: token, headerFields)
    }

    /// Logs in and returns the token.
    func logIn(_ username: String = "example@domain.com") async throws -> String {
        let login = #"{"mode":"login","username":"\#(username)","password":"secret"}"#
        return try token(of: await ask(.post, "/v1/ships/session", body: login))
    }

    /// Opens a session for a guest and returns the token.
    func enterAsGuest() async throws -> String {
        try token(of: await ask(.post, "/v1/ships/session", body: #"{"mode":"guest"}"#))
    }

    private struct NoToken: Error { let response: String }

    private func token(of response: Exchanged) throws -> String {
        guard case .string(let token) = response["data.token"] else { throw NoToken(response: response.text) }
        return token
    }

    /// Makes the upstream respond again, and waits until the probe has found that out. The probe runs after the 5 s of
    /// `probe_interval_ms`.
    func recover(_ behaviour: ScriptedSpaceX.Behaviour = .ships(ShipFixtures.fleet)) async {
        await clock.somebodySleeps(for: .seconds(5))
        spaceX.become(behaviour)
        clock.advance(by: .seconds(5))
        await events.published("connectivity", containing: #""reachable":true"#)
    }
}
