import Concurrency
import TestKit
import Testing

@testable import Cluster

@Suite struct ChangeListenerTests {
    private struct Failed: Error {}

    /// A listener, and the events that it has reported.
    private struct Listening {
        let events = Watched<[ChangeListener.Event]>([])
        let task: Task<Void, any Error>

        init(_ store: Store) {
            let events = events
            let listener = ChangeListener(store.options) { event in events.update { $0.append(event) } }
            task = Task { try await listener.run() }
        }

        /// Waits for an event, after so many others.
        func heard(_ event: ChangeListener.Event, times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation)
            async
        {
            await events.until("\(event)", sourceLocation: sourceLocation) { events in
                events.count { $0 == event } >= times
            }
        }
    }

    @Test("Each server hears what one tells after its commit, in order, and nothing of a change that failed")
    func messages() async throws {
        let store = try await Store().withCounters()
        let listeners = [Listening(store), Listening(store)]
        for listener in listeners { await listener.heard(.connected) }
        await #expect(throws: Failed.self) {
            try await store.database.write { transaction in
                transaction.notify("never")
                throw Failed()
            }
        }
        try await store.database.write { transaction in
            try transaction.increment("a")
            for message in ["1", "2 Grüße '\"", String(repeating: "x", count: 7999)] { transaction.notify(message) }
        }
        for listener in listeners {
            await listener.heard(.message(String(repeating: "x", count: 7999)))
            #expect(listener.events.value.prefix(3) == [.connected, .message("1"), .message("2 Grüße '\"")])
            listener.task.cancel()
            try await listener.task.value
        }
    }

    @Test("A message that the server refuses does not undo the change, and is logged")
    func refused() async throws {
        let store = try await Store().withCounters()
        let log = LogRecorder()
        let database = PostgresDatabase(store.options, logger: log.logger)
        try await database.write { transaction in
            try transaction.increment("a")
            transaction.notify(String(repeating: "x", count: 8000))
        }
        #expect(try await store.counters() == ["a": 1])
        #expect(log.lines.count == 1 && log.lines.allSatisfy { $0.contains("messages to other servers were lost") })
    }

    @Test("A listener whose connection is cut says so, connects again, and hears again")
    func cut() async throws {
        let store = try await Store().withCounters()
        let listener = Listening(store)
        await listener.heard(.connected)
        _ = try await store.database.rows(
            """
            SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
            WHERE application_name = $1 AND pid <> pg_backend_pid()
            """,
            [store.options.name]
        ) { try $0.value("ended") as Bool }
        await listener.heard(.disconnected(.unavailable(.connectionLost)))
        await listener.heard(.connected, times: 2)
        try await store.database.write { $0.notify("again") }
        await listener.heard(.message("again"))
        listener.task.cancel()
        try await listener.task.value
    }

    @Test("A listener without a server says why, until it is cancelled")
    func unreachable() async throws {
        var options = try await Store().options
        options.url = "postgresql:///none?host=/nowhere/at/all"
        let events = Watched<[ChangeListener.Event]>([])
        let listener = ChangeListener(options) { event in events.update { $0.append(event) } }
        let task = Task { try await listener.run() }
        await events.until("two attempts") { $0.count >= 2 }
        task.cancel()
        try await task.value
        #expect(events.value.allSatisfy { "\($0)".contains("/nowhere/at/all") })
    }
}

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
