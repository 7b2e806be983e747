package import Cluster
package import Foundation
package import HTTPTypes
package import Storage
import Synchronization
package import Testing
package import Upstream

@testable package import Screens

/// An app behind the real router, over scripted upstreams, a temporary database and a clock that a test moves. The
/// wiring is the server's.
///
/// The tests of an app give it a name and the fixture that only that app needs: `typealias ShipsHarness =
/// AppHarness<ShipsApp, ScriptedSpaceX>`.
package struct AppHarness<Served: App, Fixture: Sendable>: Sendable {
    /// The tables of the app's server.
    package static var migrations: [SchemaMigration] { AppParts.migrations(of: Served.self) }
    /// Those of them that several servers replicate.
    package static var replicated: JournalTables { AppParts.replicated(of: Served.self) }

    package let app: Served
    /// The fixture that the app's tests script, such as a simulated upstream.
    package let fixture: Fixture
    /// The clock of app, sessions, events and upstreams.
    package let clock: ManualClock
    package let events: EventStream
    /// The database with the tables of the cache, of sessions and of the app.
    package let database: LarderDatabase
    package let sessions: SessionStore
    /// The upstreams by name.
    package let upstreams: [String: Upstream]
    /// The lines of the log.
    package let log: LogRecorder
    /// The statements that the database has run.
    package let statements: StatementLog
    let routed: RoutedApp
    let identification: ClientIdentification

    /// Runs a test against an app.
    ///
    /// - Parameters:
    ///   - fixture: the fixture that the app's tests script.
    ///   - upstreams: the upstreams that have an address.
    ///   - surroundings: clock, data directory and settings.
    ///   - make: creates the app; by default as the server does.
    ///   - finish: runs after the test, before upstreams and database are closed.
    ///   - test: the test.
    package static func run(
        _ type: Served.Type,
        fixture: Fixture,
        upstreams: [AppUpstream] = [],
        _ surroundings: AppSurroundings = AppSurroundings(),
        make: (AppContext) throws -> Served = { try Served($0) },
        finish: @Sendable (AppHarness) async throws -> Void = { _ in },
        _ test: @Sendable (AppHarness) async throws -> Void
    ) async throws {
        let parts = try AppParts(type, upstreams, surroundings)
        let app = try make(parts.context)
        // An upstream keeps its listeners, and the app its upstreams: the app is let go of at the end, so that the lock
        // of the data directory is released.
        let recovering = Watched<Served?>(app)
        for (description, upstream) in parts.upstreams {
            upstream.onRecovery { await recovering.value?.upstreamRecovered(description) }
        }
        defer { recovering.update { $0 = nil } }
        try await RoutedApp.run(try parts.table(of: app), sessions: parts.sessions) { routed in
            let harness = AppHarness(app, fixture, parts, surroundings, routed)
            try await test(harness)
            try await finish(harness)
        }
        for (_, upstream) in parts.upstreams { upstream.stop() }
        // No file of an upload may be left by any test.
        #expect(try FileManager.default.contentsOfDirectory(atPath: parts.scratch.path) == [])
        try parts.database.close()
    }

    private init(
        _ app: Served,
        _ fixture: Fixture,
        _ parts: AppParts,
        _ surroundings: AppSurroundings,
        _ routed: RoutedApp
    ) {
        self.app = app
        self.fixture = fixture
        self.routed = routed
        clock = surroundings.clock
        identification = surroundings.identification
        events = parts.events
        database = parts.database
        sessions = parts.sessions
        upstreams = Dictionary(parts.upstreams.map { ($0.description.name, $0.upstream) }) { first, _ in first }
        log = parts.log
        statements = parts.statements
    }
}

extension AppHarness {
    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: path and query.
    ///   - client: the client's token or profile, by ``AppSurroundings/identification``.
    ///   - headerFields: further header fields.
    ///   - body: a body; without a type it is declared as JSON.
    /// - Returns: The whole response.
    package func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as client: String? = nil,
        _ headerFields: HTTPFields = [:],
        body: Data? = nil
    ) async throws -> Exchanged {
        switch identification {
        case .token: return try await routed.ask(method, target, as: client, headerFields, body: body)
        case .profile:
            var fields = headerFields
            if let client { fields[.larderProfile] = client }
            return try await routed.ask(method, target, as: nil, fields, body: body)
        }
    }

    /// Sends a request with a body of JSON text.
    package func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as client: String? = nil,
        _ headerFields: HTTPFields = [:],
        json: String?
    ) async throws -> Exchanged {
        try await ask(method, target, as: client, headerFields, body: json.map { Data($0.utf8) })
    }

    package func get(_ target: String, as client: String? = nil, _ headerFields: HTTPFields = [:]) async throws
        -> Exchanged
    {
        try await ask(.get, target, as: client, headerFields)
    }

    /// Waits for the probe of an upstream, lets it succeed, and waits until clients were notified.
    ///
    /// - Parameter respond: makes the upstream respond again.
    package func recover(_ respond: () -> Void) async {
        // The default of `probe_interval_ms`.
        await clock.sleepers(of: .seconds(5))
        respond()
        clock.advance(by: .seconds(5))
        await events.published("connectivity", containing: #""reachable":true"#)
    }
}

extension EventStream {
    /// Every event published so far, to all clients and to accounts. The stream's `run` must be `test`.
    package var published: [ServerEvent] {
        let subscription = subscribe(lastEventID: "test-0")
        defer { unsubscribe(subscription.number) }
        return subscription.missed.map(\.event)
    }

    /// Returns as soon as an event of this kind and text has been published.
    package func published(
        _ kind: String,
        containing text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await BoundedWait.run(for: "an event \(kind) with \(text)", at: sourceLocation) {
            await self.hasPublished(kind, text)
        }
    }

    /// Returns true once an event has been published, false if the task is cancelled before.
    private func hasPublished(_ kind: String, _ text: String) async -> Bool {
        let subscription = subscribe(lastEventID: "test-0")
        defer { unsubscribe(subscription.number) }
        let matches = { (event: ServerEvent) in event.kind == kind && event.json.contains(text) }
        if subscription.missed.contains(where: { matches($0.event) }) { return true }
        for await message in subscription.messages {
            if case .event(_, let event) = message, matches(event) { return true }
        }
        return false
    }
}

/// A token that outlives the run of the app that gave it out.
package final class TokenBox: Sendable {
    private let state = Mutex("")

    /// An empty box.
    package init() {}

    package var token: String {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
