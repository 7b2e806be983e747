import Cluster
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
        let events = EventStream(run: "r", listenersPerClient: 3, listeners: 5, clock: ManualClock().wallClock)
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
        let running = await access.hear(other)
        defer { running.cancel() }
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
