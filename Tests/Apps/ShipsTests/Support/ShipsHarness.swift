import Cluster
import Foundation
import HTTPTypes
import Logging
import Media
import Storage
import TestKit
import Upstream

@testable import Screens
@testable import Ships

extension SettingValues {
    /// Logins take no time.
    static let ships = standard.with(ShipsApp.loginDelay, .zero)
}

/// The Ships app over a scripted API.
typealias ShipsHarness = AppHarness<ShipsApp, ScriptedSpaceX>

extension AppHarness<ShipsApp, ScriptedSpaceX> {
    /// Runs a test against the app. The bundled snapshot has three ships unless another one is given.
    static func run(
        _ spaceX: ScriptedSpaceX = ScriptedSpaceX(),
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        snapshot: ShipSnapshot? = nil,
        settings: SettingValues = .ships,
        tools: MediaTools = MediaTools(paths: [:]),
        shared: ClusterAccess? = nil,
        _ test: @Sendable (ShipsHarness) async throws -> Void
    ) async throws {
        let upstream = AppUpstream(ShipsApp.spacex, at: "https://api.test", spaceX.upstream) {
            $0.allowedHosts = ["pictures.test"]
        }
        try await run(
            ShipsApp.self,
            fixture: spaceX,
            upstreams: [upstream],
            AppSurroundings(clock: clock, directory: directory, tools: tools, shared: shared),
            make: { context in
                var context = context
                context.settings = settings
                return try ShipsApp(context, snapshot: snapshot ?? ShipFixtures.snapshot(ShipFixtures.bundled))
            },
            test
        )
    }

    /// Runs a test for a client that has logged in, with its token.
    static func run(
        _ spaceX: ScriptedSpaceX = ScriptedSpaceX(),
        snapshot: ShipSnapshot? = nil,
        settings: SettingValues = .ships,
        _ test: @Sendable (ShipsHarness, String) async throws -> Void
    ) async throws {
        try await run(spaceX, snapshot: snapshot, settings: settings) { try await test($0, try await $0.logIn()) }
    }

    var spaceX: ScriptedSpaceX { fixture }
    var store: ShipStore { ShipStore(database) }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String? = nil,
        _ headerFields: HTTPFields = [:],
        body: String
    ) async throws -> Exchanged {
        try await ask(method, target, as: token, headerFields, json: body)
    }

    /// Logs in and returns the token.
    func logIn(_ username: String = "example@domain.com") async throws -> String {
        let login = #"{"mode":"login","username":"\#(username)","password":"secret"}"#
        return try await ask(.post, "/v1/ships/session", json: login).string("data.token")
    }

    /// Opens a session for a guest and returns the token.
    func enterAsGuest() async throws -> String {
        try await ask(.post, "/v1/ships/session", json: #"{"mode":"guest"}"#).string("data.token")
    }

    /// Makes the upstream respond again, and waits until clients were notified.
    func recover(_ behaviour: ScriptedSpaceX.Behaviour = .ships(ShipFixtures.fleet)) async {
        await recover { spaceX.become(behaviour) }
    }
}
