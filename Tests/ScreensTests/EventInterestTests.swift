import Foundation
import HTTPTypes
import TestKit
import Testing

@testable import Screens

/// The events of each listener, over the router.
@Suite(.timeLimit(.minutes(10)))
struct EventInterestTests {
    private let stream: EventHarness

    init() throws {
        stream = try EventHarness()
    }

    private static func list(_ profile: String, app: String = "shop") -> ServerEvent.Audience {
        .profile(app: app, profile: profile)
    }

    /// Connects listeners, and reads the openings of their streams.
    private func listen(_ listeners: [(fields: HTTPFields, query: String)]) async throws
        -> [AsyncStream<String>.Iterator]
    {
        var lines: [AsyncStream<String>.Iterator] = []
        for (fields, query) in listeners {
            var line = try await stream.listen(fields, query: query).pieces.makeAsyncIterator()
            #expect(await line.next()?.hasPrefix("retry: ") == true)
            lines.append(line)
        }
        return lines
    }

    @Test("TRUST-21 SRV-11 A change of one profile is sent to its listeners only, whether field or query names it")
    func profiles() async throws {
        var lines = try await listen([
            ([.larderProfile: "anna"], ""), ([:], "?profile=anna"), ([.larderProfile: "bert"], ""),
            ([.larderProfile: "bert"], "?profile=bert"), ([:], ""), (try await stream.bearer("anna"), ""),
        ])
        stream.publish(1, to: Self.list("anna"))
        stream.publish(2, to: Self.list("anna", app: "pdf"))
        stream.publish(3, to: Self.list("local"))
        stream.publish(4)
        let heard = [[1, 2, 4], [1, 2, 4], [4], [4], [3, 4], [3, 4]]
        for (index, numbers) in heard.enumerated() {
            for number in numbers { #expect(await lines[index].next() == stream.text(number), "listener \(index)") }
        }
        #expect(stream.events.deliveryCount == 2 + 2 + 2 + 6)
        stream.events.finish()
    }

    @Test("TRUST-21 An app's listeners get its events and those for all; a session of that app adds its account")
    func apps() async throws {
        let ships = try await stream.bearer("a")
        var lines = try await listen([
            (ships, "?app=ships"), (ships, "?app=shop"), ([.larderProfile: "anna"], "?app=shop"), (ships, ""),
        ])
        stream.publish(1, to: .app("ships"))
        stream.publish(2, to: "a")
        stream.publish(3, to: .app("shop"))
        stream.publish(4, to: Self.list("anna"))
        stream.publish(5, to: Self.list("anna", app: "pdf"))
        stream.publish(6)
        for (index, numbers) in [[1, 2, 6], [3, 6], [3, 4, 6], [1, 2, 3, 6]].enumerated() {
            for number in numbers { #expect(await lines[index].next() == stream.text(number), "listener \(index)") }
        }
        stream.events.finish()
    }

    @Test("TRUST-21 What was missed is replayed to its audience only, however much others have published meanwhile")
    func replay() async throws {
        stream.publish(1, to: Self.list("anna"))
        for number in 2...500 { stream.publish(number, to: Self.list("noisy")) }
        for (name, expected) in [("anna", ["id: r-1\nevent: k\ndata: {\"n\":1}\n\n"]), ("bert", [])] {
            let back: HTTPFields = [.larderProfile: name, .lastEventID: "r-0"]
            var line = try await stream.listen(back).pieces.makeAsyncIterator()
            #expect(await line.next() == (expected.isEmpty ? "retry: 2000\nid: r-500\n\n" : "retry: 2000\n\n"))
            for text in expected { #expect(await line.next() == text) }
        }
        let noisy: HTTPFields = [.larderProfile: "noisy", .lastEventID: "r-0"]
        var line = try await stream.listen(noisy).pieces.makeAsyncIterator()
        #expect(await line.next()?.contains("event: reset\n") == true, "an honest one")
        stream.events.finish()
    }

    @Test(
        "SRV-11 What is no name of a profile or of an app is refused, and nothing listens",
        arguments: ["profile=%D0%90%D0%BD%D0%BD%D0%B0", "profile=", "profile=a%20b", "profile=a&profile=b", "app=no"]
    )
    func refused(query: String) async throws {
        let served = try await stream.harness.serve(.get, "/v1/events?\(query)")
        #expect(try served.status == .badRequest && served.code() == "invalid-parameter")
        #expect(stream.events.listenerCount == 0)
    }

    @Test("SRV-11 A profile in other than ASCII is refused; names that differ in case are two")
    func unicode() async throws {
        let served = try await stream.harness.serve(.get, "/v1/events", [.larderProfile: "Анна"])
        #expect(try served.status == .badRequest && served.code() == "invalid-parameter")
        var lines = try await listen([([.larderProfile: "anna"], ""), ([.larderProfile: "Anna"], "")])
        stream.publish(1, to: Self.list("Anna"))
        stream.publish(2)
        #expect(await lines[0].next() == stream.text(2))
        #expect(await lines[1].next() == stream.text(1))
        stream.events.finish()
    }

    @Test("WEB-14 A listener gets the events of all its cookies' accounts and of a token's; not of ended ones")
    func cookies() async throws {
        let (ships, disk) = (try await stream.cookie("a", of: "ships"), try await stream.cookie("d", of: "disk"))
        let stale = "\(stream.harness.sessions.cookies.name(of: "notes"))=none"
        let own = HTTPFields.browser([ships, disk, stale, "theme=dark"])
        let (bearer, foreign) = (try await stream.bearer("b"), HTTPFields.browser([ships, disk], site: "same-site"))
        var lines = try await listen([
            (own, ""), (own.merging(bearer), ""), (own, "?app=disk"), (foreign, ""),
            (.browser([ships, "\(ships)x"]), ""),
        ])
        stream.publish(1, to: "a")
        stream.publish(2, to: .account(app: "disk", account: "d"))
        stream.publish(3, to: "b")
        stream.publish(4)
        for (index, heard) in [[1, 2, 4], [2, 3, 4], [2, 4], [4], [4]].enumerated() {
            for number in heard { #expect(await lines[index].next() == stream.text(number), "\(index)") }
        }
        stream.events.finish()
    }

    @Test("WEB-14 The end of any of its sessions ends a stream, which says so; the next one has the others")
    func endOfOne() async throws {
        let (ships, disk) = (try await stream.cookie("a", of: "ships"), try await stream.cookie("d", of: "disk"))
        let own = HTTPFields.browser([ships, disk])
        var lines = try await listen([(own, ""), (own, "?app=ships"), (.browser([ships]), "")])
        let cookies = stream.harness.sessions.cookies
        try await stream.harness.sessions.close(SessionCredentials(own, cookies: cookies), app: "disk")
        #expect(await lines[0].next() == EventHarness.ended("disk"))
        #expect(await lines[0].next() == nil)
        stream.publish(1, to: .account(app: "disk", account: "d"))
        stream.publish(2, to: "a")
        for index in [1, 2] { #expect(await lines[index].next() == stream.text(2), "it was none of its sessions") }
        let (again, _) = try await stream.listen(own.merging([.lastEventID: "r-0"]))
        var line = again.makeAsyncIterator()
        #expect(await line.next() == "retry: 2000\n\n")
        #expect(await line.next() == stream.text(2))
        stream.events.finish()
    }

    @Test("SRV-11 The end of one session wakes no listener but its own")
    func end() async throws {
        let mine = try await stream.bearer("a")
        let (leaving, task) = try await stream.listen(mine)
        var lines = try await listen([(try await stream.bearer("a"), ""), ([:], "")])
        var line = leaving.makeAsyncIterator()
        _ = await line.next()
        try await stream.harness.sessions.close(SessionCredentials(mine), app: "ships")
        #expect(await line.next() == EventHarness.ended("ships"), "although nothing was published")
        #expect(await line.next() == nil)
        try await task.value
        #expect(stream.events.listenerCount == 2 && stream.events.deliveryCount == 0)
        stream.publish(1)
        for index in lines.indices { #expect(await lines[index].next() == stream.text(1)) }
        stream.events.finish()
    }
}
