import Concurrency
import TestKit
import Testing

@testable import Cluster

@Suite("Messages between servers")
struct ClusterMessagesTests {
    private static func changes(_ store: Store, _ node: String, kept: Duration = .seconds(600)) -> ClusterMessages {
        ClusterMessages(store.other(), node: node, kept: kept, logger: .quiet)
    }

    private static func heard(_ changes: ClusterMessages, _ expected: Bool = true) async {
        await BoundedWait.poll(for: "what others tell") { changes.isConnected == expected }
    }

    @Test("SCALE-10 Others are told, and rely no more on what has changed; the sender is not told by itself")
    func told() async throws {
        let store = try await Store()
        let (one, two) = (Self.changes(store, "1"), Self.changes(store, "2"))
        let texts = Watched<[String]>([])
        one.onMessage("event") { text in texts.update { $0.append("1 \(text)") } }
        two.onMessage("event") { text in texts.update { $0.append("2 \(text)") } }
        let running = Task {
            try await [one, two].concurrentMap { changes in try await changes.run() }
        }
        defer { running.cancel() }
        await Self.heard(one)
        await Self.heard(two)
        let (changed, other) = (two.token(of: "a"), two.token(of: "b"))
        #expect(changed.holds && other.holds)
        one.notify("event", "a", "text")
        await texts.until { $0 == ["2 text"] }
        #expect(!changed.holds && other.holds)
    }

    @Test("SCALE-09 While it hears nothing, a server relies on nothing; afterwards it does again")
    func deaf() async throws {
        let server = try await RunningPostgres.start()
        let store = try await Store(on: server)
        let changes = Self.changes(store, "1")
        #expect(!changes.token(of: "a").holds)
        let running = Task { try await changes.run() }
        defer { running.cancel() }
        await Self.heard(changes)
        let token = changes.token(of: "a")
        #expect(token.holds)
        try server.stop("immediate")
        await Self.heard(changes, false)
        #expect(!token.holds && !changes.token(of: "a").holds)
        try server.restart()
        await Self.heard(changes)
        #expect(changes.token(of: "a").holds)
    }

    @Test("SCALE-09 Nothing is relied on for longer than it is kept, and with 0 not at all")
    func kept() async throws {
        let store = try await Store()
        let changes = Self.changes(store, "1", kept: .zero)
        let running = Task { try await changes.run() }
        defer { running.cancel() }
        await Self.heard(changes)
        #expect(!changes.token(of: "a").holds)
    }
}
