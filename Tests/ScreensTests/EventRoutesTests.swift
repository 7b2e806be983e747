import Concurrency
import Database
import Foundation
import Freshness
import GRDB
import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import ResponseStore
import ServiceLifecycleTestKit
import Testing
import Upstream

@testable import Screens

struct EventBacklogTests {
    private static func event(_ number: Int) -> ServerEvent { ServerEvent(kind: "k", data: [("n", .number(number))]) }

    private static func backlog(_ count: Int, capacity: Int = 3) -> EventBacklog {
        var backlog = EventBacklog(run: "a-b", capacity: capacity)
        for number in 0..<count { _ = backlog.append(event(number + 1)) }
        return backlog
    }

    private func numbers(_ missed: EventBacklog.Missed) -> [Int]? {
        if case .entries(let entries) = missed { entries.map(\.number) } else { nil }
    }

    @Test("SRV-09 What was missed is replayed as long as it is kept")
    func missed() {
        let backlog = Self.backlog(5)
        #expect(backlog.newestIdentity == "a-b-5")
        #expect(numbers(backlog.missed(since: "a-b-5")) == [])
        #expect(numbers(backlog.missed(since: "a-b-4")) == [5])
        #expect(numbers(backlog.missed(since: "a-b-2")) == [3, 4, 5])
    }

    @Test(
        "SRV-09 What is not kept, of another run, of the future or no identity is unknown",
        arguments: [
            "a-b-1", "a-b-0", "a-b-6", "a-b--1", "a-b-", "a-b", "x-4", "4", "", "a-b-4x", "a-b-99999999999999999999",
        ]
    )
    func unknown(identity: String) {
        #expect(Self.backlog(5).missed(since: identity) == .unknown)
    }

    @Test("Before the first event there is nothing to miss")
    func empty() {
        #expect(numbers(Self.backlog(0).missed(since: "a-b-0")) == [])
        #expect(numbers(Self.backlog(3).missed(since: "a-b-0")) == [1, 2, 3])
    }

    @Test("Nothing kept at all is possible")
    func noCapacity() {
        let backlog = Self.backlog(2, capacity: 0)
        #expect(numbers(backlog.missed(since: "a-b-2")) == [])
        #expect(backlog.missed(since: "a-b-1") == .unknown)
    }
}

struct ServerEventTests {
    @Test("SRV-09 Events as they are written")
    func text() {
        let connectivity = ServerEvent.connectivity(upstream: "spacex", reachable: false, at: ten)
        #expect(
            ServerSentEvents.text(identity: "r-1", connectivity)
                == "id: r-1\nevent: connectivity\ndata: {\"upstream\":\"spacex\",\"reachable\":false,\"offline\":true,\"at\":\"2026-01-05T10:00:00Z\"}\n\n"
        )
        let changed = ServerEvent.screenChanged(app: "ships", screen: "ships.list", revision: 8)
        #expect(
            changed.kind == "screen-changed" && changed.json == #"{"app":"ships","screen":"ships.list","revision":8}"#
        )
    }

    @Test("Nothing in a text can end the line or the string")
    func injection() {
        let event = ServerEvent(kind: "k", data: [("t", .text("a\"b\\c\r\n\nevent: x\u{2028}ä"))])
        #expect(event.json == #"{"t":"abcevent: x"}"#)
    }
}

/// `/v1/events` through the router, with a clock whose sleepers the test wakes.
@Suite(.timeLimit(.minutes(1)))
struct EventRouteTests {
    /// A heartbeat that comes when the test says.
    private struct Beats {
        let ticks: AsyncStream<Void>
        let tick: AsyncStream<Void>.Continuation

        init() { (ticks, tick) = AsyncStream.makeStream() }

        var clock: WallClock {
            WallClock(
                now: { ten },
                sleep: { [ticks] _ in
                    for await _ in ticks { return }
                    throw CancellationError()
                }
            )
        }
    }

    /// A listener's connection: what was written to it, piece by piece.
    private struct Line: ResponseBodyWriter {
        let pieces: AsyncStream<String>.Continuation
        let hold: @Sendable () async -> Void

        func write(_ buffer: ByteBuffer) async throws {
            pieces.yield(String(buffer: buffer))
            await hold()
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws { pieces.finish() }
    }

    private let beats = Beats()
    private let events: EventStream
    private let harness: ScreenHarness

    init() throws {
        let events = EventStream(run: "r", capacity: 3, clock: beats.clock)
        self.events = events
        harness = try ScreenHarness { EventRoutes(events: events, sessions: $0).routes }
    }

    private func listen(_ fields: HTTPFields = [:], query: String = "", hold: @escaping @Sendable () async -> Void = {})
        async throws -> (
            pieces: AsyncStream<String>, task: Task<Void, any Error>
        )
    {
        let response = try await harness.respond(.get, "/v1/events\(query)", fields)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/event-stream; charset=utf-8")
        #expect(
            response.headers[.cacheControl] == "no-store" && response.headers[.contentLength] == nil
                && response.headers[.contentEncoding] == nil
        )
        let (pieces, continuation) = AsyncStream.makeStream(of: String.self)
        return (pieces, Task { try await response.body.write(Line(pieces: continuation, hold: hold)) })
    }

    private func publish(_ number: Int, to account: String? = nil) {
        events.publish(
            ServerEvent(
                kind: "k",
                data: [("n", .number(number))],
                audience: account.map { .account(app: "ships", account: $0) } ?? .everyone
            )
        )
    }

    private func text(_ number: Int) -> String { "id: r-\(number)\nevent: k\ndata: {\"n\":\(number)}\n\n" }

    @Test("SRV-09 A listener learns where it stands, then every event as it happens")
    func live() async throws {
        publish(1)
        let (pieces, task) = try await listen([.acceptEncoding: "gzip"])
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\nid: r-1\n\n")
        publish(2)
        publish(3)
        #expect(await line.next() == text(2))
        #expect(await line.next() == text(3))
        events.finish()
        #expect(await line.next() == nil)
        try await task.value
    }

    @Test("SRV-09 Last-Event-ID replays what was missed, as field or query", arguments: [true, false])
    func replay(byField: Bool) async throws {
        for number in 1...3 { publish(number) }
        let (pieces, _) = try await listen(
            byField ? [.lastEventID: "r-1"] : [:],
            query: byField ? "" : "?last_event_id=r-1"
        )
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\n\n")
        #expect(await line.next() == text(2))
        #expect(await line.next() == text(3))
        publish(4)
        #expect(await line.next() == text(4))
        events.finish()
    }

    @Test(
        "SRV-09 A client that missed more than is kept, or another run, is told to request everything again",
        arguments: ["r-1", "old-7"]
    )
    func reset(identity: String) async throws {
        for number in 1...5 { publish(number) }
        let (pieces, _) = try await listen([.lastEventID: identity])
        var line = pieces.makeAsyncIterator()
        let opening = try #require(await line.next())
        #expect(opening.hasPrefix("retry: 2000\nid: r-5\nevent: reset\ndata: {") && opening.hasSuffix("}\n\n"))
        publish(6)
        #expect(await line.next() == text(6))
        events.finish()
    }

    @Test("SRV-09 Heartbeats keep the connection open")
    func heartbeat() async throws {
        let running = Task { try await events.run() }
        let (pieces, _) = try await listen()
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        beats.tick.yield()
        #expect(await line.next() == ": heartbeat\n\n")
        beats.tick.yield()
        #expect(await line.next() == ": heartbeat\n\n")
        running.cancel()
        #expect(await line.next() == nil)
        try await running.value
        #expect(events.listenerCount == 0)
    }

    @Test("SRV-12 A graceful stop of the server ends every listener's stream, and those that come later at once")
    func gracefulShutdown() async throws {
        try await testGracefulShutdown { trigger in
            let running = Task { try await events.run() }
            let (pieces, task) = try await listen()
            var line = pieces.makeAsyncIterator()
            _ = await line.next()
            trigger.triggerGracefulShutdown()
            #expect(await line.next() == nil)
            try await task.value
            try await running.value
            let (late, _) = try await listen()
            var lateLine = late.makeAsyncIterator()
            _ = await lateLine.next()
            #expect(await lateLine.next() == nil)
        }
        #expect(events.listenerCount == 0)
    }

    @Test("SRV-09 SRV-11 An account's events are heard by its sessions only, live and replayed")
    func audiences() async throws {
        func token(_ app: String, _ account: String) async throws -> HTTPFields {
            [
                .authorization:
                    "Bearer \(try await harness.sessions.open(Session(app: app, kind: .user, account: account, name: nil, createdAt: ten)))"
            ]
        }
        let (mine, _) = try await listen(try await token("ships", "a"))
        let (others, _) = try await listen(try await token("ships", "b"))
        let (otherApp, _) = try await listen(try await token("notes", "a"))
        let (nobodys, _) = try await listen()
        var lines = [mine, others, otherApp, nobodys].map { $0.makeAsyncIterator() }
        for index in lines.indices { _ = await lines[index].next() }
        publish(1, to: "a")
        publish(2)
        #expect(await lines[0].next() == text(1))
        for index in lines.indices { #expect(await lines[index].next() == text(2)) }
        let (replayed, _) = try await listen(try await token("ships", "b").merging([.lastEventID: "r-0"]))
        var line = replayed.makeAsyncIterator()
        _ = await line.next()
        #expect(await line.next() == text(2))
        events.finish()
    }

    @Test("SRV-09 SRV-11 A stream ends at logout: no event of the account is heard after it, and other listeners go on")
    func logout() async throws {
        func fields(_ account: String) async throws -> HTTPFields {
            [
                .authorization:
                    "Bearer \(try await harness.sessions.open(Session(app: "ships", kind: .user, account: account, name: nil, createdAt: ten)))"
            ]
        }
        let (first, second) = (try await fields("a"), try await fields("a"))
        let (leaving, task) = try await listen(first)
        let (staying, _) = try await listen(second)
        let (anonymous, _) = try await listen()
        var lines = [leaving, staying, anonymous].map { $0.makeAsyncIterator() }
        for index in lines.indices { _ = await lines[index].next() }
        try await harness.sessions.close(BearerCredential(first))
        publish(1, to: "a")
        publish(2)
        #expect(await lines[0].next() == nil)
        try await task.value
        #expect(await lines[1].next() == text(1))
        #expect(await lines[1].next() == text(2))
        #expect(await lines[2].next() == text(2))
        events.finish()
    }

    @Test(
        "SRV-11 A session that ended without a word is found out before its account's next event, and by the heartbeat",
        arguments: [true, false]
    )
    func silentEnd(byEvent: Bool) async throws {
        let fields: HTTPFields = [
            .authorization:
                "Bearer \(try await harness.sessions.open(Session(app: "ships", kind: .user, account: "a", name: nil, createdAt: ten)))"
        ]
        let (pieces, _) = try await listen(fields)
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        try await harness.database.write { try $0.execute(sql: "DELETE FROM session") }
        let running = Task { try await events.run() }
        if byEvent { publish(1, to: "a") } else { beats.tick.yield() }
        #expect(await line.next() == nil)
        running.cancel()
        _ = await running.result
    }

    @Test("SRV-09 A client whose missed events were all for others still learns where it stands")
    func standing() async throws {
        publish(1)
        publish(2, to: "a")
        let (pieces, _) = try await listen([.lastEventID: "r-1"])
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\nid: r-2\n\n")
        events.finish()
    }

    @Test("SRV-09 A token that is not known is 401, not an anonymous listener")
    func unknownToken() async throws {
        let served = try await harness.serve(.get, "/v1/events", [.authorization: "Bearer nonsense"])
        #expect(try served.status == .unauthorized && served.code() == "session-expired")
        #expect(events.listenerCount == 0)
    }

    @Test("A HEAD does not listen")
    func head() async throws {
        let served = try await harness.serve(.head, "/v1/events")
        #expect(served.status == .ok && served.body.isEmpty)
        #expect(events.listenerCount == 0)
    }

    @Test("SRV-11 A listener that reads too slowly is let go; the others hear everything, and it can come back")
    func slowListener() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (slow, task) = try await listen { for await _ in released { return } }
        let (quick, _) = try await listen()
        var slowLine = slow.makeAsyncIterator()
        var quickLine = quick.makeAsyncIterator()
        _ = await slowLine.next()
        _ = await quickLine.next()
        for number in 1...300 {
            publish(number)
            #expect(await quickLine.next() == text(number))
        }
        #expect(events.listenerCount == 1)
        release.finish()
        for number in 1...256 { #expect(await slowLine.next() == text(number)) }
        #expect(await slowLine.next() == nil, "nothing is left out in between")
        try await task.value
        events.finish()
    }

    @Test("A listener that is gone is forgotten")
    func gone() async throws {
        struct Broken: Error {}
        struct BrokenLine: ResponseBodyWriter {
            func write(_ buffer: ByteBuffer) async throws { throw Broken() }
            func finish(_ trailingHeaders: HTTPFields?) async throws {}
        }
        let response = try await harness.respond(.get, "/v1/events")
        await #expect(throws: Broken.self) { try await response.body.write(BrokenLine()) }
        #expect(events.listenerCount == 0)
        let (pieces, task) = try await listen()
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        #expect(events.listenerCount == 1)
        task.cancel()
        _ = await line.next()
        _ = await task.result
        #expect(events.listenerCount == 0)
    }

    @Test("Events published while many come and go reach those who stay, in order, without gaps")
    func concurrency() async throws {
        let (pieces, _) = try await listen()
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        async let churn: Void = withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { [events] in
                    let subscription = events.subscribe(lastEventID: nil)
                    events.unsubscribe(subscription.number)
                    events.unsubscribe(subscription.number)
                }
            }
        }
        for number in 1...100 { publish(number) }
        for number in 1...100 { #expect(await line.next() == text(number)) }
        await churn
        events.finish()
    }
}

extension HTTPFields {
    fileprivate func merging(_ other: HTTPFields) -> HTTPFields {
        var fields = self
        fields.append(contentsOf: other)
        return fields
    }
}
