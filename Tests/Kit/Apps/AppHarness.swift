package import Cluster
import Foundation
package import Screens
package import Storage
import Testing
package import Upstream

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

    /// The app.
    package let app: Served
    /// The fixture that the app's tests script, such as a simulated upstream.
    package let fixture: Fixture
    /// The clock of app, sessions, events and upstreams.
    package let clock: ManualClock
    /// The event stream.
    package let events: EventStream
    /// The database with the tables of the cache, of sessions and of the app.
    package let database: LarderDatabase
    /// The sessions.
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
    /// - Throws: the errors of `make`, `test` and `finish`, and `StorageError` if the database cannot be used.
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
