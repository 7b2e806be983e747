import Foundation
import HTTPTypes
import NIOCore
import TestKit
import Testing

@testable import Upstream

@Suite("Mounts", .timeLimit(.minutes(10)))
struct MountTests {
    @Test("SRV-07 The first request fetches and stores, the second is a hit with its age and what is left of its life")
    func missThenHit() async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=60", [.contentLength: "3"])))
        let first = try await it.ask()
        #expect(first.body == "one" && first.cacheStatus == "larder; fwd=uri-miss; stored" && first.fields[.age] == nil)
        it.scene.clock.advance(by: .seconds(10))
        let second = try await it.ask()
        #expect(second.body == "one" && second.cacheStatus == "larder; hit; ttl=50" && second.fields[.age] == "10")
        #expect(it.scene.transport.requests.map(\.url) == ["https://api.test/thing"])
    }

    @Test("SRV-07 A stale response is validated; after a 304 it is fresh again")
    func revalidation() async throws {
        let it = try MountScenario()
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5", [.eTag: "\"a\""])),
            response(.notModified, fields: it.fields("max-age=50", [.eTag: "\"a\""]))
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        let confirmed = try await it.ask()
        #expect(confirmed.body == "one" && confirmed.cacheStatus == "larder; fwd=stale; fwd-status=304")
        #expect(it.scene.transport.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
        it.scene.clock.advance(by: .seconds(6))
        #expect(try await it.ask().cacheStatus == "larder; hit; ttl=44")
    }

    @Test("SRV-07 Without the upstream the last good response is served, flagged; then without a request")
    func lastGood() async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=5")))
        try await it.ask()
        it.scene.clock.advance(by: .seconds(65))
        it.scene.transport.always(failure(.unreachable(.refused)))
        let tried = try await it.ask()
        #expect(
            tried.body == "one" && tried.cacheStatus == "larder; fwd=stale; detail=unreachable" && tried.isOffline
                && tried.fields[.age] == "65"
        )
        let known = try await it.ask()
        #expect(known.body == "one" && known.cacheStatus == "larder; hit; ttl=-60; detail=offline" && known.isOffline)
        #expect(it.scene.transport.count == 2)
        let insisting = try await it.ask(.get, "/thing", [.cacheControl: "no-cache"])
        #expect(insisting.body == "one" && insisting.isOffline && it.scene.transport.count == 3)
    }

    @Test("SRV-07 must-revalidate forbids the last good response, and so does the setting", arguments: [true, false])
    func noLastGood(byDirective: Bool) async throws {
        let it = try MountScenario(MountOptions(lastGood: byDirective))
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields(byDirective ? "max-age=5, must-revalidate" : "max-age=5"))
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        it.scene.transport.always(failure(.unreachable(.refused)))
        await #expect(throws: UpstreamError.unreachable(.refused)) { try await it.ask() }
    }

    @Test("SRV-07 An upstream error is replaced by the last good response, not flagged offline; a 404 is not")
    func errors() async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, "one", fields: it.fields("max-age=5")))
        try await it.ask()
        it.scene.clock.advance(by: .seconds(6))
        it.scene.transport.then(response(.serviceUnavailable, "down"), response(.notFound, "gone"))
        let hidden = try await it.ask()
        #expect(
            hidden.body == "one" && hidden.cacheStatus == "larder; fwd=stale; fwd-status=503; detail=stale-if-error"
                && !hidden.isOffline
        )
        let gone = try await it.ask()
        #expect(gone.status == 404 && gone.body == "gone")
    }

    @Test("SRV-07 Ranges, HEAD and conditions are served from the stored whole")
    func fromStore() async throws {
        let it = try MountScenario()
        it.scene.transport.then(response(.ok, "0123456789", fields: it.fields("max-age=60", [.eTag: "\"a\""])))
        try await it.ask()
        let part = try await it.ask(.get, "/thing", [.range: "bytes=2-4"])
        #expect(
            part.status == 206 && part.body == "234" && part.fields[.contentRange] == "bytes 2-4/10"
                && part.fields[.contentLength] == "3"
        )
        let head = try await it.ask(.head)
        #expect(head.status == 200 && head.body.isEmpty && head.fields[.contentLength] == "10")
        #expect(try await it.ask(.get, "/thing", [.ifNoneMatch: "\"a\""]).status == 304)
        #expect(try await it.ask(.get, "/thing", [.range: "bytes=20-"]).status == 416)
        #expect(it.scene.transport.count == 1)
    }

    @Test("SRV-07 A write passes with its body, is not stored, and makes what is stored doubtful")
    func writes() async throws {
        let it = try MountScenario(MountOptions(methods: [.get, .post]))
        it.scene.transport.then(
            response(.ok, "old", fields: it.fields("max-age=60", [.eTag: "\"a\""])),
            response(.created, "made", fields: it.fields("max-age=60")),
            response(.ok, "new", fields: it.fields("max-age=60"))
        )
        try await it.ask()
        let write = try await it.ask(.post, body: "{}")
        #expect(write.status == 201 && write.body == "made" && write.cacheStatus == "larder; fwd=method")
        #expect(it.scene.transport.requests.last?.body == Array("{}".utf8))
        #expect(try await it.ask().body == "new")
        #expect(it.scene.transport.requests.last?.headerFields[.ifNoneMatch] == "\"a\"")
        #expect(try await it.ask().body == "new")
        #expect(it.scene.transport.count == 3)
    }

    @Test("SRV-08 Clients that ask for the same cold thing cause one request")
    func collapsing() async throws {
        let (it, gate) = (try MountScenario(), Gate())
        it.scene.transport.always(held(by: gate, response(.ok, "one")))
        let responses = try await withThrowingTaskGroup(of: MountScenario.Seen.self) { group in
            for _ in 0..<50 { group.addTask { try await it.ask() } }
            await it.scene.transport.requests(1)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.allSatisfy { $0.body == "one" })
        #expect(
            Set(responses.compactMap(\.cacheStatus)).isSubset(of: [
                "larder; fwd=uri-miss; stored", "larder; fwd=uri-miss; collapsed",
                "larder; fwd=stale; fwd-status=200; stored",
            ])
        )
        #expect(responses.count { $0.cacheStatus == "larder; fwd=uri-miss; stored" } == 1)
    }

    @Test("SRV-08 A failure to reach the upstream ends all requests that wait for it")
    func collapsedFailure() async throws {
        let (it, gate) = (try MountScenario(), Gate())
        it.scene.transport.always(held(by: gate, failure(.unreachable(.connectTimeout))))
        let leader = Task { try await it.ask() }
        await it.scene.transport.requests(1)
        gate.open()
        await #expect(throws: UpstreamError.unreachable(.connectTimeout)) { try await leader.value }
    }

    @Test("SRV-07 A response that may be used while it is validated is used, and validated")
    func staleWhileRevalidate() async throws {
        let it = try MountScenario()
        it.scene.transport.then(
            response(.ok, "one", fields: it.fields("max-age=5, stale-while-revalidate=60")),
            response(.ok, "two", fields: it.fields("max-age=5, stale-while-revalidate=60"))
        )
        try await it.ask()
        it.scene.clock.advance(by: .seconds(10))
        #expect(try await it.ask().body == "one")
        await it.scene.transport.requests(2)
    }

    @Test("SRV-07 Paths keep their bytes; what no URI has is encoded; dot segments do not leave the mount")
    func targets() async throws {
        let it = try MountScenario()
        it.scene.transport.always(response(.ok, "", fields: it.fields("no-store")))
        for target in ["/a//b/?x=%20y&x=%2f&=", "/", "/a?", "/%E2%82%AC;v=1"] { try await it.ask(.get, target) }
        try await it.ask(.get, "/a|b?{c}=%20")
        #expect(
            it.scene.transport.requests.map(\.url) == [
                "https://api.test/a//b/?x=%20y&x=%2f&=", "https://api.test/", "https://api.test/a?",
                "https://api.test/%E2%82%AC;v=1",
                "https://api.test/a%7Cb?%7Bc%7D=%20",
            ]
        )
        for target in [
            "/../x", "/a/%2e%2E/x", "/a/.", "x", "//..//", "/..%2fx", "/a%2F..%2Fx", "/..\\x", "/%5c..%5Cx",
            "/..;a=b/x",
            "/.;/x", "",
        ] {
            #expect(!MountRequest.isBelowBase(target), "\(target)")
        }
        for target in ["/a/..b", "/?..", "//", "/a/.../b", "/a%2Fb", "/%zz", "/a%", "/..%ff"] {
            #expect(MountRequest.isBelowBase(target), "\(target)")
        }
    }
}
