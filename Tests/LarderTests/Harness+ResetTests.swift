import Concurrency
import Foundation
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

    @Test(
        "A reset whose old server does not close says so and serves the new one; a failed start is repaired by the next"
    )
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
