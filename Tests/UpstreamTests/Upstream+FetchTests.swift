import Dispatch
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Storage
import Synchronization
import TestKit
import Testing

@testable import Upstream

/// The result of a read while the upstream fails, and the response that the store keeps.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamFetchTests {
    private let scene: Scenario

    init() throws { scene = try Scenario() }

    @Test("SRV-05 A failing upstream: the copy, stale and not offline", arguments: [500, 503, 429, 408, 507])
    func staleIfError(status: Int) async throws {
        let scene = try Scenario(attempts: 1)
        try await scene.age(scene.list())
        let storedAt = scene.clock.now - 60
        scene.transport.then(response(.init(code: status), "<html>"))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; fwd=stale; fwd-status=\(status); detail=stale-if-error")
        #expect(result.provenance.stale && !result.provenance.offline)
        #expect(result.provenance.validatedAt == storedAt)
        #expect(try scene.body(of: result.response) == "old")
        #expect(scene.upstream.reachability.isReachable)
        #expect(scene.upstream.reachability.lastError?.reason == "status \(status)")
    }

    @Test("A failing upstream without a copy is the error that it is, with its Retry-After")
    func failingWithoutCopy() async throws {
        scene.transport.then(response(.tooManyRequests, fields: [.retryAfter: "17"]))
        await #expect(throws: UpstreamError.failing(status: .tooManyRequests, retryAfter: 17)) {
            try await scene.upstream.read(scene.list())
        }
    }

    @Test(
        "SRV-05 An unreachable upstream with a copy: offline, by every way of being unreachable",
        arguments: UnreachableReason.allCases
    )
    func unreachable(reason: UnreachableReason) async throws {
        try await scene.age(scene.list())
        scene.transport.always(failure(.unreachable(reason)))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; fwd=stale; detail=unreachable")
        #expect(result.provenance.offline && result.provenance.stale && !result.provenance.isValidatedNow)
        #expect(try scene.body(of: result.response) == "old")
        #expect(!scene.upstream.reachability.isReachable)
        #expect(scene.upstream.reachability.lastError?.reason == reason.rawValue)
    }

    @Test("TRUST-02 A response that cannot be stored: the copy, stale, and the upstream is not blamed")
    func storageFailed() async throws {
        let scene = try Scenario(attempts: 1)
        try await scene.age(scene.list())
        try await scene.refuseToStore()
        scene.transport.then(response(.ok, "new"))
        let reading = try await scene.upstream.read(scene.list())
        #expect(reading.cacheStatus == "larder; fwd=stale; detail=storage-failed")
        #expect(reading.provenance.stale && !reading.provenance.offline)
        #expect(try scene.body(of: reading.response) == "old")
        #expect(scene.upstream.reachability.isReachable && scene.upstream.reachability.lastError == nil)
        scene.transport.then(response(.ok, "new"))
        await #expect(throws: UpstreamError.storageFailed(isFull: false)) {
            try await scene.upstream.read(scene.list("/never"))
        }
    }

    @Test("ONE-12 without a copy, an upstream that is known to be unreachable is asked by one read, if a probe is due")
    func unreachableWithoutCopy() async throws {
        let gate = Gate()
        scene.transport.always(failure(.unreachable(.nameResolution)))
        func expectFailure(_ error: UpstreamError, of path: String = "/list") async {
            await #expect(throws: error) { try await scene.upstream.read(scene.list(path)) }
        }
        await expectFailure(.unreachable(.nameResolution))
        for path in ["/list", "/other"] { await expectFailure(.known(.unreachable(.network)), of: path) }
        #expect(scene.transport.count == 1)
        scene.clock.advance(by: .seconds(2))
        scene.transport.always(held(by: gate, response(.ok, "one")))
        let first = Task { try await scene.upstream.read(scene.list()) }
        await gate.arrivals(1)
        await expectFailure(.known(.unreachable(.network)), of: "/other")
        gate.open()
        #expect(try await first.value.cacheStatus == "larder; fwd=uri-miss; stored")
        _ = try await scene.upstream.read(scene.list("/other"))
        #expect(scene.transport.count == 3)
    }

    @Test("while the clock stands still, no probe becomes due: each read without a copy asks")
    func frozen() async throws {
        scene.clock.freeze()
        await scene.goDown()
        scene.transport.then(response(.ok, "one"))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=uri-miss; stored")
    }

    @Test("SRV-05 Known to be offline, it is not tried; refresh is")
    func knownOffline() async throws {
        try await scene.age(scene.list())
        await scene.goDown()
        let asked = scene.transport.count
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; hit; ttl=-55; detail=offline")
        #expect(result.provenance.offline && result.provenance.stale)
        #expect(scene.transport.count == asked)
        scene.transport.then(response(.ok, "new"))
        let refreshed = try await scene.upstream.read(scene.list(), .revalidate)
        #expect(try scene.body(of: refreshed.response) == "new")
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test(
        "A 4xx is news: thrown, never hidden, and the copy stays as it was",
        arguments: [400, 401, 403, 404, 410, 422]
    )
    func rejected(status: Int) async throws {
        try await scene.age(scene.list(), fields: [.eTag: "\"1\""])
        let before = try scene.upstream.storedResponse(of: scene.list())
        scene.transport.then(response(.init(code: status), "because"))
        await #expect(throws: UpstreamError.rejected(status: .init(code: status), body: Array("because".utf8))) {
            try await scene.upstream.read(scene.list())
        }
        #expect(try scene.upstream.storedResponse(of: scene.list()) == before)
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test("A status that means nothing to a read is a bad response", arguments: [201, 204, 206, 300])
    func oddStatus(status: Int) async throws {
        try await scene.age(scene.list())
        scene.transport.then(response(.init(code: status), "odd"))
        #expect(
            try await scene.upstream.read(scene.list()).cacheStatus
                == "larder; fwd=stale; fwd-status=\(status); detail=bad-response"
        )
        #expect(try scene.storedBody(scene.list()) == "old")
    }

    @Test("A bad response never replaces the good copy")
    func badResponse() async throws {
        try await scene.age(scene.list())
        var resource = scene.list()
        resource.validate = { response throws(UpstreamError) in
            throw .badResponse(status: response.status, reason: "not JSON")
        }
        scene.transport.then(response(.ok, "<html>"))
        let result = try await scene.upstream.read(resource)
        #expect(result.cacheStatus == "larder; fwd=stale; fwd-status=200; detail=bad-response")
        #expect(result.provenance.stale && !result.provenance.offline)
        #expect(try scene.storedBody(resource) == "old")
        #expect(scene.upstream.reachability.lastError?.reason == "not JSON")
        #expect(scene.upstream.reachability.isReachable)
    }

    @Test("Response and rows are one transaction: if rows cannot be written, the response is not stored either")
    func admissionFails() async throws {
        try await scene.age(scene.list())
        var resource = scene.list()
        resource.validate = { _ throws(UpstreamError) in
            Resource.PersistRows { db in
                try db.execute(sql: "INSERT INTO seen VALUES ('new')")
                throw DatabaseError(resultCode: .SQLITE_FULL)
            }
        }
        scene.transport.always(response(.ok, "new"))
        let result = try await scene.upstream.read(resource)
        #expect(try scene.body(of: result.response) == "old")
        #expect(result.provenance.stale)
        #expect(try scene.storedBody(resource) == "old")
        #expect(try scene.database.integer("SELECT count(*) FROM seen") == 0)
        var unseen = scene.list("/unseen")
        unseen.validate = resource.validate
        await #expect(throws: UpstreamError.storageFailed(isFull: true)) {
            try await scene.upstream.read(unseen)
        }
        #expect(try scene.storedBody(unseen) == nil)
    }

    @Test("Response and rows are one transaction: both are stored when the read returns")
    func admissionSucceeds() async throws {
        var resource = scene.list()
        resource.validate = { response throws(UpstreamError) in
            let text = String(decoding: response.body, as: UTF8.self)
            return Resource.PersistRows { try $0.execute(sql: "INSERT INTO seen VALUES (?)", arguments: [text]) }
        }
        scene.transport.then(response(.ok, "new", fields: [.eTag: "\"1\""]), response(.notModified))
        _ = try await scene.upstream.read(resource)
        _ = try await scene.upstream.read(resource, .revalidate)
        #expect(
            try scene.database.read { try String.fetchAll($0, sql: "SELECT body FROM seen") } == ["new"],
            "a 304 admits nothing"
        )
    }

    @Test(
        "Retry-After is observed: the copy is served until then; a refresh still sends a request",
        arguments: [HTTPResponse.Status.tooManyRequests, .serviceUnavailable]
    )
    func retryAfter(status: HTTPResponse.Status) async throws {
        try await scene.age(scene.list())
        scene.transport.then(response(status, fields: [.retryAfter: "30"]))
        #expect(try await scene.upstream.read(scene.list()).provenance.stale)
        let asked = scene.transport.count
        scene.clock.advance(by: .seconds(29))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; hit; ttl=-84; detail=retry-after")
        #expect(result.provenance.stale && !result.provenance.offline)
        #expect(result.provenance.pausedUntil == scene.clock.now.addingTimeInterval(1))
        await #expect(throws: UpstreamError.known(.failing(status: status, retryAfter: 1))) {
            try await scene.upstream.read(scene.list("/never-stored"))
        }
        #expect(scene.transport.count == asked)
        scene.clock.advance(by: .seconds(1))
        scene.transport.then(response(.ok, "new"))
        #expect(try await scene.upstream.read(scene.list()).provenance.isValidatedNow)
    }

    @Test("Retry-After applies to the upstream that sent it, not to a host that it only links to")
    func retryAfterElsewhere() async throws {
        scene.transport.then(response(.tooManyRequests, fields: [.retryAfter: "3600"]))
        await #expect(throws: UpstreamError.self) { try await scene.upstream.read(scene.list()) }
        scene.transport.then(response(.ok, "picture"))
        let result = try await scene.upstream.read(Resource(url: "https://pictures.test/a.png", freshness: nil))
        #expect(try scene.body(of: result.response) == "picture")
        #expect(
            scene.upstream.reachability.pause(at: scene.clock.now)?.seconds(at: scene.clock.now) == 300,
            "its own origin is still left alone"
        )
    }

    @Test(
        "TRUST-06 A 4xx that is not in the API's own form is a failure, not news: the copy, stale",
        arguments: [400, 401, 403, 404, 407, 410, 451]
    )
    func foreignStatus(status: Int) async throws {
        let scene = try Scenario(attempts: 1)
        let resource = scene.list()
        let reason = "status \(status), not in the form of its own refusals"
        let page = response(.init(code: status), "<html>nginx</html>")
        scene.transport.then(page)
        await #expect(throws: UpstreamError.badResponse(status: .init(code: status), reason: reason)) {
            try await scene.upstream.read(resource)
        }
        try await scene.age(resource)
        scene.transport.then(page)
        let result = try await scene.upstream.read(resource)
        #expect(result.cacheStatus == "larder; fwd=stale; fwd-status=\(status); detail=bad-response")
        #expect(result.provenance.stale && !result.provenance.offline)
        #expect(try scene.body(of: result.response) == "old" && scene.storedBody(resource) == "old")
        #expect(scene.upstream.reachability.isReachable && scene.upstream.reachability.lastError?.reason == reason)
    }

    @Test(
        "TRUST-06 Nothing is news of an API that has no form of its own; 407 is a proxy's whatever it says",
        arguments: [401, 404, 407]
    )
    func noForm(status: Int) async throws {
        let scene = try Scenario(attempts: 1)
        var resource = scene.list()
        if status != 407 { resource.errors = .none }
        try await scene.age(resource)
        scene.transport.then(response(.init(code: status), #"{"error":"x"}"#))
        #expect(
            try await scene.upstream.read(resource).cacheStatus
                == "larder; fwd=stale; fwd-status=\(status); detail=bad-response"
        )
    }

    @Test("TRUST-06 A call tells refusals in the API's own form from others, too")
    func callErrors() async throws {
        let scene = try Scenario(attempts: 1)
        let request = OutgoingRequest(method: .delete, url: "https://api.test/list")
        let form = scene.list().errors
        scene.transport.then(response(.notFound, "own"))
        await #expect(throws: UpstreamError.rejected(status: .notFound, body: Array("own".utf8))) {
            try await scene.upstream.call(request, errors: form)
        }
        scene.transport.then(response(.notFound, "<html>"))
        let reason = "status 404, not in the form of its own refusals"
        await #expect(throws: UpstreamError.badResponse(status: .notFound, reason: reason)) {
            try await scene.upstream.call(request, errors: form)
        }
        #expect(scene.upstream.reachability.lastError?.reason == reason)
    }

    @Test("A 429 pauses the account that it is about, if the API limits requests by account")
    func retryAfterByAccount() async throws {
        let scene = try Scenario { $0.limitsByCredential = true }
        let hasher = try SealedSecrets(scene.database).credentialHasher()
        func list(_ account: String) -> Resource {
            var resource = scene.list()
            resource.credential = hasher.hash(account)
            return resource
        }
        scene.transport.then(response(.tooManyRequests, fields: [.retryAfter: "99999999999"]))
        await #expect(throws: UpstreamError.failing(status: .tooManyRequests, retryAfter: 2_147_483_648)) {
            try await scene.upstream.read(list("anna"))
        }
        scene.transport.then(response(.ok, "boris"))
        #expect(try await scene.upstream.read(list("boris")).provenance.isValidatedNow)
        await #expect(throws: UpstreamError.known(.failing(status: .tooManyRequests, retryAfter: 300))) {
            try await scene.upstream.read(list("anna"))
        }
        scene.transport.then(response(.ok, "anna"))
        _ = try await scene.upstream.read(list("anna"), .revalidate)
        scene.clock.advance(by: .seconds(6))
        scene.transport.then(response(.ok, "anna"))
        #expect(try await scene.upstream.read(list("anna")).provenance.isValidatedNow, "a success has ended the pause")
    }

    @Test("Retry-After may be a date")
    func retryAfterDate() async throws {
        let scene = try Scenario()  // It is 2026-01-05 10:00:00 there.
        scene.transport.then(response(.serviceUnavailable, fields: [.retryAfter: "Mon, 05 Jan 2026 10:00:30 GMT"]))
        await #expect(throws: UpstreamError.failing(status: .serviceUnavailable, retryAfter: 30)) {
            try await scene.upstream.read(scene.list())
        }
        #expect(scene.upstream.reachability.pause(at: scene.clock.now)?.seconds(at: scene.clock.now) == 30)
    }

    @Test("SRV-11 A resource on a host that is not listed is not asked for, and marks nothing")
    func forbiddenTarget() async throws {
        await #expect(throws: UpstreamError.known(.forbiddenTarget("host evil.test"))) {
            try await scene.upstream.read(Resource(url: "https://evil.test/list", freshness: nil))
        }
        #expect(scene.transport.count == 0)
        #expect(scene.upstream.reachability.since == nil)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct UpstreamFetchLargeTests {
    /// Number of validations that run, and the most at a time.
    private struct Load {
        var running = 0
        var most = 0
        var begun = 0
        /// When the validations that are held end by themselves.
        var end: DispatchTime?
    }

    @Test("TRUST-19 Large responses are read one after the other, beside the threads of the requests")
    func oneAfterTheOther() async throws {
        let scene = try Scenario(attempts: 1)
        let load = Watched(Load())
        let isReleased = DispatchSemaphore(value: 0)
        scene.transport.always { request in
            let spaces = request.url.hasSuffix("/small") ? 0 : Upstream.largestReadAtOnce
            return .json(String(repeating: " ", count: spaces) + "[]")
        }
        let reads = (0..<16).map { number in
            var large = scene.list("/large/\(number)")
            large.validate = { (_) in
                let end = load.update {
                    $0.begun += 1
                    $0.running += 1
                    $0.most = max($0.most, $0.running)
                    let end = $0.end ?? .now() + 10
                    $0.end = end
                    return end
                }
                // Not for ever: a thread of the pool would never come back.
                _ = isReleased.wait(timeout: end)
                load.update { $0.running -= 1 }
                return .none
            }
            return Task { [large] in try await scene.upstream.read(large) }
        }
        await load.until { $0.begun > 0 }
        await scene.transport.requests(16)
        let small = try await scene.upstream.read(scene.list("/small"))
        #expect(try scene.body(of: small.response) == "[]")
        #expect(load.value.begun == 1, "a small response is read while a large one is")
        for _ in reads { isReleased.signal() }
        for read in reads { _ = try await read.value }
        #expect(load.value.begun == 16 && load.value.most == 1)
    }
}
