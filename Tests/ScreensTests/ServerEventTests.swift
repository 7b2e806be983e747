import TestKit
import Testing

@testable import Screens

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
