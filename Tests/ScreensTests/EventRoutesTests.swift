import Concurrency
import Foundation
import GRDB
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServiceLifecycleTestKit
import Storage
import TestKit
import Testing
import Upstream

@testable import Screens

@Suite(.timeLimit(.minutes(10)))
struct EventRoutesTests {
    private let events: EventStream
    private let stream: EventHarness
    private var harness: ScreenHarness { stream.harness }
    private var beats: EventHarness.Beats { stream.beats }

    init() throws {
        stream = try EventHarness()
        events = stream.events
    }

    @Test("SRV-09 A listener gets its position, then every event as it happens")
    func live() async throws {
        stream.publish(1)
        let (pieces, task) = try await stream.listen([.acceptEncoding: "gzip"])
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\nid: r-1\n\n")
        stream.publish(2)
        stream.publish(3)
        #expect(await line.next() == stream.text(2))
        #expect(await line.next() == stream.text(3))
        events.finish()
        #expect(await line.next() == nil)
        try await task.value
    }

    @Test("ONE-01 A listener that comes during an outage is told of it after what it missed, and of no other upstream")
    func outage() async throws {
        let scene = try Scenario()
        let stream = try EventHarness { [ServerEvent.outage(of: scene.upstream)].compactMap(\.self) }
        let (idle, _) = try await stream.listen()
        var first = idle.makeAsyncIterator()
        #expect(await first.next() == "retry: 2000\nid: r-0\n\n")
        await scene.goDown()
        for number in 1...2 { stream.publish(number) }
        let (pieces, _) = try await stream.listen([.lastEventID: "r-1"])
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\n\n")
        #expect(await line.next() == stream.text(2))
        let at = WireFormat.timestamp(scene.clock.now)
        let data = #"{"upstream":"ships","reachable":false,"offline":true,"at":"\#(at)"}"#
        #expect(await line.next() == "event: connectivity\ndata: \(data)\n\n")
        #expect(await first.next() == stream.text(1), "those who listened already have the event itself")
        stream.publish(3)
        #expect(await line.next() == stream.text(3))
        stream.events.finish()
    }

    @Test("SRV-09 Last-Event-ID replays what was missed, as field or query", arguments: [true, false])
    func replay(byField: Bool) async throws {
        for number in 1...3 { stream.publish(number) }
        let (pieces, _) = try await stream.listen(
            byField ? [.lastEventID: "r-1"] : [:],
            query: byField ? "" : "?last_event_id=r-1"
        )
        var line = pieces.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\n\n")
        #expect(await line.next() == stream.text(2))
        #expect(await line.next() == stream.text(3))
        stream.publish(4)
        #expect(await line.next() == stream.text(4))
        events.finish()
    }

    @Test("SRV-09 A client that missed more than is kept, or another run, gets reset", arguments: ["r-1", "old-7"])
    func reset(identity: String) async throws {
        for number in 1...5 { stream.publish(number) }
        let (pieces, _) = try await stream.listen([.lastEventID: identity])
        var line = pieces.makeAsyncIterator()
        let opening = try #require(await line.next())
        #expect(opening.hasPrefix("retry: 2000\nid: r-5\nevent: reset\ndata: {") && opening.hasSuffix("}\n\n"))
        stream.publish(6)
        #expect(await line.next() == stream.text(6))
        events.finish()
    }

    @Test("SRV-09 Heartbeats keep the connection open")
    func heartbeat() async throws {
        let running = Task { try await events.run() }
        let (pieces, _) = try await stream.listen()
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        beats.tick.yield()
        #expect(await line.next() == ": heartbeat\nid: r-0\n\n")
        stream.publish(1, to: "a")
        beats.tick.yield()
        #expect(await line.next() == ": heartbeat\nid: r-1\n\n", "an event of others is none that is missed")
        running.cancel()
        #expect(await line.next() == nil)
        try await running.value
        #expect(events.listenerCount == 0)
    }

    @Test("SRV-12 A graceful stop of the server ends every listener's stream, and those that come later at once")
    func gracefulShutdown() async throws {
        try await testGracefulShutdown { trigger in
            let running = Task { try await events.run() }
            let (pieces, task) = try await stream.listen()
            var line = pieces.makeAsyncIterator()
            _ = await line.next()
            trigger.triggerGracefulShutdown()
            #expect(await line.next() == nil)
            try await task.value
            try await running.value
            let (late, _) = try await stream.listen()
            var lateLine = late.makeAsyncIterator()
            _ = await lateLine.next()
            #expect(await lateLine.next() == nil)
        }
        #expect(events.listenerCount == 0)
    }

    @Test("SRV-09 SRV-11 An account's events are sent to its sessions only, live and replayed")
    func audiences() async throws {
        let (mine, _) = try await stream.listen(try await stream.bearer("a"))
        let (others, _) = try await stream.listen(try await stream.bearer("b"))
        let (otherApp, _) = try await stream.listen(try await stream.bearer("a", of: "notes"))
        let (nobodys, _) = try await stream.listen()
        var lines = [mine, others, otherApp, nobodys].map { $0.makeAsyncIterator() }
        for index in lines.indices { _ = await lines[index].next() }
        stream.publish(1, to: "a")
        stream.publish(2)
        #expect(await lines[0].next() == stream.text(1))
        for index in lines.indices { #expect(await lines[index].next() == stream.text(2)) }
        let (replayed, _) = try await stream.listen(try await stream.bearer("b").merging([.lastEventID: "r-0"]))
        var line = replayed.makeAsyncIterator()
        _ = await line.next()
        #expect(await line.next() == stream.text(2))
        events.finish()
    }

    @Test("SRV-09 SRV-11 A stream ends at logout: no event of the account follows, and other listeners continue")
    func logout() async throws {
        let (first, second) = (try await stream.bearer("a"), try await stream.bearer("a"))
        let (leaving, task) = try await stream.listen(first)
        let (staying, _) = try await stream.listen(second)
        let (anonymous, _) = try await stream.listen()
        var lines = [leaving, staying, anonymous].map { $0.makeAsyncIterator() }
        for index in lines.indices { _ = await lines[index].next() }
        try await harness.sessions.close(SessionCredentials(first), app: "ships")
        stream.publish(1, to: "a")
        stream.publish(2)
        #expect(await lines[0].next() == EventHarness.ended("ships"))
        #expect(await lines[0].next() == nil)
        try await task.value
        #expect(await lines[1].next() == stream.text(1))
        #expect(await lines[1].next() == stream.text(2))
        #expect(await lines[2].next() == stream.text(2))
        events.finish()
    }

    @Test(
        "SRV-11 A session that ended without a word is found out before its account's next event, and by the heartbeat",
        arguments: [true, false]
    )
    func silentEnd(byEvent: Bool) async throws {
        let (pieces, _) = try await stream.listen(try await stream.bearer("a"))
        var line = pieces.makeAsyncIterator()
        _ = await line.next()
        try await harness.database.write { try $0.execute(sql: "DELETE FROM session") }
        let running = Task { try await events.run() }
        if byEvent { stream.publish(1, to: "a") } else { beats.tick.yield() }
        #expect(await line.next() == EventHarness.ended("ships"))
        #expect(await line.next() == nil)
        running.cancel()
        _ = await running.result
    }

    @Test("SRV-09 A client whose missed events were all for others still gets its position")
    func standing() async throws {
        stream.publish(1)
        stream.publish(2, to: "a")
        let (pieces, _) = try await stream.listen([.lastEventID: "r-1"])
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

    @Test("SRV-11 A listener that reads too slowly is disconnected; the others get everything, and it can reconnect")
    func slowListener() async throws {
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let (slow, task) = try await stream.listen { for await _ in released { return } }
        let (quick, _) = try await stream.listen()
        var slowLine = slow.makeAsyncIterator()
        var quickLine = quick.makeAsyncIterator()
        _ = await slowLine.next()
        _ = await quickLine.next()
        for number in 1...300 {
            stream.publish(number)
            #expect(await quickLine.next() == stream.text(number))
        }
        #expect(events.listenerCount == 1)
        release.finish()
        for number in 1...256 { #expect(await slowLine.next() == stream.text(number)) }
        #expect(await slowLine.next() == nil, "nothing is left out in between")
        try await task.value
        events.finish()
    }

    @Test("A disconnected listener is removed")
    func gone() async throws {
        struct Broken: Error {}
        struct BrokenLine: ResponseBodyWriter {
            func write(_ buffer: ByteBuffer) async throws { throw Broken() }
            func finish(_ trailingHeaders: HTTPFields?) async throws {}
        }
        let response = try await harness.respond(.get, "/v1/events")
        await #expect(throws: Broken.self) { try await response.body.write(BrokenLine()) }
        #expect(events.listenerCount == 0)
        let (pieces, task) = try await stream.listen()
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
        let (pieces, _) = try await stream.listen()
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
        for number in 1...100 { stream.publish(number) }
        for number in 1...100 { #expect(await line.next() == stream.text(number)) }
        await churn
        events.finish()
    }
}
