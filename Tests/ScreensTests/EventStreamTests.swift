import Cluster
import Concurrency
import Foundation
import TestKit
import Testing

@testable import Screens

@Suite(.timeLimit(.minutes(10)))
struct EventStreamTests {
    private let events = EventStream(run: "r", clock: ManualClock().wallClock)

    private func publish(to audience: ServerEvent.Audience, in events: EventStream? = nil) {
        let event = ServerEvent.screenChanged(app: "shop", screen: "shop.list", revision: 1, audience: audience)
        (events ?? self.events).publish(event)
    }

    private static func list(_ profile: Int) -> ServerEvent.Audience { .profile(app: "shop", profile: "\(profile)") }

    /// Returns the number of messages that wait for a listener whose stream has ended.
    private static func waiting(_ subscription: EventStream.Subscription) async -> Int {
        await subscription.messages.reduce(0) { count, _ in count + 1 }
    }

    @Test("SCALE-14 TRUST-21 A change of one profile's list wakes none of 5,000 listeners of other profiles")
    func profiles() async throws {
        let others = (1...5000).map { events.subscribe(to: [.everyone, .app("shop"), Self.list($0)]) }
        let own = events.subscribe(to: [.everyone, .app("shop"), Self.list(0)])
        for _ in 0..<10 { publish(to: Self.list(0)) }
        #expect(events.deliveryCount == 10)
        publish(to: .app("shop"))
        #expect(events.deliveryCount == 10 + 5001)
        events.finish()
        #expect(await Self.waiting(own) == 11)
        for other in others { #expect(await Self.waiting(other) == 1) }
    }

    @Test("TRUST-25 The oldest listener of a client ends for one more than it may have, or of the one that has most")
    func displaced() async throws {
        let events = EventStream(
            run: "r",
            listenersPerClient: 3,
            listeners: 5,
            clock: ManualClock().wallClock
        )
        let heavy = (1...3).map { _ in events.subscribe(client: "a") }
        let own = events.subscribe(client: "a")
        // The first one of the client, whose stream has ended.
        #expect(await Self.waiting(heavy[0]) == 0)
        #expect(events.listenerCount == 3)
        let others = [events.subscribe(client: "b"), events.subscribe(client: "b"), events.subscribe(client: "c")]
        #expect(await Self.waiting(heavy[1]) == 0)
        #expect(events.listenerCount == 5)
        publish(to: .everyone, in: events)
        events.finish()
        for listener in [heavy[2], own] + others { #expect(await Self.waiting(listener) == 1) }
    }

    @Test("SRV-11 Listeners that never read are let go when their room is full, and cost others nothing")
    func unread() async throws {
        let silent = (0..<5000).map { _ in events.subscribe(to: [.everyone, Self.list(1)]) }
        let reading = events.subscribe(to: [.everyone, Self.list(2)])
        for _ in 0..<300 { publish(to: Self.list(1)) }
        #expect(events.listenerCount == 1, "those that read are left")
        publish(to: .everyone)
        // The room of each, and the one message that did not fit.
        #expect(events.deliveryCount == 5000 * 257 + 1)
        events.finish()
        #expect(await Self.waiting(reading) == 1)
        for listener in silent.prefix(10) { #expect(await Self.waiting(listener) == 256) }
    }

    @Test("SCALE-10 Other servers publish what their audiences share, and nothing that is about one server alone")
    func shared() async throws {
        let access = try await ClusterAccess.temporary([])
        let other = access.otherServer()
        let elsewhere = EventStream(run: "test", clock: ManualClock().wallClock)
        events.share(over: access.changes)
        elsewhere.share(over: other.changes)
        let running = Task {
            async let first: Void = access.changes.run()
            async let second: Void = other.changes.run()
            _ = try await (first, second)
        }
        defer { running.cancel() }
        await BoundedWait.poll(for: "both to hear") { access.changes.isConnected && other.changes.isConnected }
        let own = ServerEvent.screenChanged(app: "shop", screen: "own", revision: 1, audience: .app("shop"))
        events.publish(own, isOwn: true)
        publish(to: .everyone)
        publish(to: Self.list(1))
        await elsewhere.published("screen-changed", containing: "shop.list")
        let heard = elsewhere.published.filter { $0.kind == "screen-changed" }
        #expect(heard.map(\.audience) == [Self.list(1)])
    }

    @Test("A disconnected listener is in no audience and no session")
    func left() throws {
        var listeners = EventListeners()
        let (_, messages) = AsyncStream.makeStream(of: EventStream.Message.self)
        let audiences: [Set<ServerEvent.Audience>?] = [[.everyone, Self.list(1)], [.everyone], nil]
        for (number, audiences) in audiences.enumerated() {
            listeners.add(.init(messages: messages, audiences: audiences, sessionApps: [.init([1]): "ships"]), number)
        }
        #expect(Set(listeners.numbers(of: .everyone)) == [0, 1, 2])
        #expect(Set(listeners.numbers(of: Self.list(1))) == [0, 2])
        #expect(Set(listeners.numbers(ofSession: .init([1]))) == [0, 1, 2])
        for number in [0, 2] { #expect(listeners.remove(number) != nil && listeners.remove(number) == nil) }
        #expect(listeners.numbers(of: .everyone) == [1] && listeners.numbers(of: Self.list(1)) == [])
        #expect(listeners.numbers(ofSession: .init([1])) == [1] && listeners.count == 1)
    }
}

struct EventBacklogTests {
    private static func event(_ number: Int, to audience: ServerEvent.Audience = .everyone) -> ServerEvent {
        ServerEvent(kind: "k", data: [("n", .number(number))], audience: audience)
    }

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

    private static func profile(_ name: Int) -> ServerEvent.Audience { .profile(app: "shop", profile: "\(name)") }

    @Test("TRUST-21 A profile with many events pushes out its own only")
    func noisy() {
        var backlog = EventBacklog(run: "r", capacity: 3)
        _ = backlog.append(Self.event(1, to: .account(app: "disk", account: "a")))
        _ = backlog.append(Self.event(2))
        for number in 3...1000 { _ = backlog.append(Self.event(number, to: Self.profile(0))) }
        #expect(backlog.count == 5)
        #expect(numbers(backlog.missed(since: "r-0", of: [.everyone, .account(app: "disk", account: "a")])) == [1, 2])
        #expect(numbers(backlog.missed(since: "r-0", of: [.everyone, Self.profile(1)])) == [2])
        #expect(backlog.missed(since: "r-996", of: [.everyone, Self.profile(0)]) == .unknown)
        #expect(numbers(backlog.missed(since: "r-997", of: [.everyone, Self.profile(0)])) == [998, 999, 1000])
    }

    @Test("SRV-11 All audiences together are bounded; what they lose is unknown to those who missed it")
    func total() {
        var backlog = EventBacklog(run: "r", capacity: 3)
        for number in 1...10_000 { _ = backlog.append(Self.event(number, to: Self.profile(number % 1000))) }
        #expect(backlog.count == 60)
        // The events of profile 500 were 500, 1500, … 9500: all are gone.
        #expect(backlog.missed(since: "r-9499", of: [Self.profile(500)]) == .unknown)
        #expect(numbers(backlog.missed(since: "r-9940", of: [Self.profile(500)])) == [])
        #expect(numbers(backlog.missed(since: "r-9940", of: [Self.profile(941), Self.profile(0)])) == [9941, 10_000])
        #expect(backlog.missed(since: "r-8999", of: [Self.profile(0)]) == .unknown)
    }

    @Test("TRUST-21 Whatever audiences publish, each listener gets what it missed, or a reset", arguments: 1...20)
    func anyOrder(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var (backlog, all) = (EventBacklog(run: "r", capacity: 4), [ServerEvent]())
        for number in 1...2000 {
            // Few audiences publish most.
            let name = Int.random(in: 0..<Int.random(in: 1...200, using: &random), using: &random)
            all.append(Self.event(number, to: Self.profile(name)))
            _ = backlog.append(all[number - 1])
            #expect(backlog.count <= 4 * EventBacklog.share)
        }
        var known = 0
        for name in 0..<200 {
            let since = Int.random(in: 1800...2000, using: &random)
            guard let found = numbers(backlog.missed(since: "r-\(since)", of: [Self.profile(name)])) else { continue }
            let missed = all.indices.map { $0 + 1 }.filter { $0 > since && all[$0 - 1].audience == Self.profile(name) }
            #expect(found == missed)
            known += 1
        }
        #expect((1..<200).contains(known))
    }
}

struct ServerEventTests {
    @Test("SRV-09 Events as they are written")
    func text() {
        let connectivity = ServerEvent.connectivity(upstream: "spacex", reachable: false, at: ten)
        #expect(
            ServerSentEvents.text(identity: "r-1", connectivity)
                == "id: r-1\nevent: connectivity\n"
                + "data: {\"upstream\":\"spacex\",\"reachable\":false,\"offline\":true,"
                + "\"at\":\"2026-01-05T10:00:00Z\"}\n\n"
        )
        let audience = ServerEvent.Audience.app("ships")
        let changed = ServerEvent.screenChanged(app: "ships", screen: "ships.list", revision: 8, audience: audience)
        #expect(
            changed.kind == "screen-changed" && changed.json == #"{"app":"ships","screen":"ships.list","revision":8}"#
        )
    }

    @Test("Nothing in a text can end the line or the string")
    func injection() {
        let event = ServerEvent(kind: "k", data: [("t", .text("a\"b\\c\r\n\nevent: x\u{2028}ä"))], audience: .everyone)
        #expect(event.json == #"{"t":"abcevent: x"}"#)
    }
}
