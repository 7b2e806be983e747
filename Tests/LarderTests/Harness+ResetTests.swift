import Concurrency
import Foundation
import GRDB
import Hummingbird
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Larder
@testable import Storage

@Suite(.timeLimit(.minutes(1))) struct HarnessResetTests {
    /// A server that does nothing but end.
    private final class Ending: ReplaceableServer {
        struct NotClosed: Error {}

        let responder = Router(context: ScreenContext.self).buildResponder()
        let table = RouteTable()
        let services: [any Service] = []
        let responseCache: ResponseCache? = nil
        let upstreams: [Upstream] = []
        let events = EventStream(run: "a", clock: ManualClock().wallClock)
        let seed: ServerSeed
        let fixtures = FixtureLibrary([])
        let database: LarderDatabase
        let migrationNames: [String] = []
        var directory: DataDirectory { database.directory }
        private let fails: Bool
        private let count = Mutex(0)

        init(fails: Bool = false) throws {
            database = try LarderDatabase.temporary()
            seed = ServerSeed([], database)
            self.fails = fails
        }

        var closed: Int { count.withLock { $0 } }

        func stop() {}

        func close() async throws {
            count.withLock { $0 += 1 }
            if fails { throw NotClosed() }
        }
    }

    private struct Contents: StoreContents {
        let hasKey = false
        func write(to directory: DataDirectory) throws {}
    }

    private struct NotBuilt: Error {}

    @Test("A reset whose old server does not close says so and serves the new one; the next repairs a failed start")
    func failures() async throws {
        let servers = [try Ending(fails: true), try Ending(), try Ending()]
        let next = Mutex([servers[1], nil, servers[2]])
        let harness = Harness(clock: VirtualClock(ManualClock().wallClock), pristine: Contents())
        let running = Task { try await HarnessService(harness: harness).run() }
        harness.begin(servers[0]) { _ in
            guard let server = next.withLock({ $0.removeFirst() }) else { throw NotBuilt() }
            return server
        }
        await #expect(throws: Ending.NotClosed.self) { try await harness.reset {} }
        #expect(harness.application as? Ending === servers[1])
        await #expect(throws: NotBuilt.self) { try await harness.reset {} }
        #expect(harness.application == nil && servers[1].closed == 1)
        try await harness.reset {}
        #expect(harness.application as? Ending === servers[2])

        try await harness.close { [:] }
        #expect(servers[2].closed == 1 && harness.application == nil)
        await #expect(throws: HarnessError.self) { try await harness.reset {} }
        try await running.value
    }
}

@Suite struct SnapshotTests {
    @Test("HARN-16 a space of a snapshot has the stored responses of its sandbox, also of links, and changes no others")
    func moved() throws {
        let urls = try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE stored_response (url TEXT UNIQUE)")
            for url in [
                "http://127.0.0.1:9000/spacex/v4/ships", "http://127.0.0.1:9000/yandex_downloader/disk/a%20b_c?x=1",
                // A port that begins with the same figures, a real upstream on this machine, and an earlier sandbox.
                "http://127.0.0.1:90001/spacex/v4/ships", "http://127.0.0.1:8000/spacex/v4/ships",
                "http://127.0.0.1:9001/spacex/v4/ships", "https://disk.example/127.0.0.1:9000/",
            ] { try db.execute(sql: "INSERT INTO stored_response VALUES (?)", arguments: [url]) }
            try Snapshots.moveResponses(db, from: 9000, to: 9001)
            return try String.fetchAll(db, sql: "SELECT url FROM stored_response ORDER BY url")
        }
        #expect(
            urls == [
                "http://127.0.0.1:8000/spacex/v4/ships", "http://127.0.0.1:90001/spacex/v4/ships",
                "http://127.0.0.1:9001/spacex/v4/ships", "http://127.0.0.1:9001/yandex_downloader/disk/a%20b_c?x=1",
                "https://disk.example/127.0.0.1:9000/",
            ]
        )
    }
}
