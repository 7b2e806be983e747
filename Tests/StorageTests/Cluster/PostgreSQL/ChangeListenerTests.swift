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
