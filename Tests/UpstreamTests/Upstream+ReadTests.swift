import Crypto
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// Reads through the whole of ``Upstream``: the requests, results and stored responses while the upstream works.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamReadTests {
    private let scene: Scenario

    init() throws { scene = try Scenario() }

    @Test("SRV-04 A first read is fetched and stored, in the database")
    func fetched() async throws {
        scene.transport.then(
            response(.ok, "one", fields: [.eTag: "\"1\"", .connection: "close, X-Hop", .transferEncoding: "chunked"])
        )
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; fwd=uri-miss; stored")
        #expect(result.provenance.isValidatedNow)
        #expect(!result.provenance.offline && !result.provenance.stale)
        #expect(result.provenance.validatedAt == scene.clock.now)
        #expect(try scene.body(of: result.response) == "one")
        #expect(try scene.storedBody(scene.list()) == "one")
        let stored = try #require(try scene.upstream.storedResponse(of: scene.list()))
        #expect(stored.id == result.response?.id)
        #expect(stored.head.headerFields == [.eTag: "\"1\""], "fields of the connection are not kept")
        let request = try #require(scene.transport.requests.first)
        #expect(
            request
                == OutgoingRequest(
                    url: "https://api.test/list",
                    headerFields: [.accept: "application/json", .userAgent: "Larder"]
                )
        )
        #expect(scene.transport.exchanges.first?.limits.publicAddressesOnly == false)
    }

    @Test("A response that needs a validation when it is stored is not fresh, nor is a 304")
    func doubtful() async throws {
        var list = scene.list()
        list.needsRevalidation = { _ in true }
        scene.transport.then(response(.ok, "one", fields: [.eTag: "\"1\""]))
        #expect(try await scene.upstream.read(list).cacheStatus == "larder; fwd=uri-miss; stored")
        scene.transport.then(response(.notModified, ""))
        #expect(try await scene.upstream.read(list).cacheStatus == "larder; fwd=stale; fwd-status=304")
        scene.transport.then(response(.ok, "two"))
        list.needsRevalidation = { _ in false }
        _ = try await scene.upstream.read(list)
        #expect(try await scene.upstream.read(list).cacheStatus == "larder; hit; ttl=5")
        #expect(scene.transport.count == 3)
    }

    @Test("Reads of different generations are not the same request", arguments: [HTTPRequest.Method.put, .delete])
    func generations(method: HTTPRequest.Method) async throws {
        var later = scene.list()
        later.generation = 1
        #expect(scene.list().flightKey != later.flightKey)
        // A call that is to be sent once is not repeated, though its method is idempotent.
        scene.transport.then(failure(.unreachable(.reset)))
        await #expect(throws: UpstreamError.unreachable(.reset)) {
            _ = try await scene.upstream.call(
                OutgoingRequest(method: method, url: "https://api.test/x", isSentOnce: true)
            )
        }
        #expect(scene.transport.count == 1)
    }

    @Test("A fresh copy is served without a request, with the rest of its freshness")
    func freshHit() async throws {
        scene.transport.then(response(.ok, "one"))
        let fetchedAt = scene.clock.now
        _ = try await scene.upstream.read(scene.list())
        scene.clock.advance(by: .seconds(4))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; hit; ttl=1")
        #expect(!result.provenance.isValidatedNow)
        #expect(!result.provenance.stale && !result.provenance.offline)
        #expect(result.provenance.validatedAt == fetchedAt)
        #expect(scene.transport.count == 1)
        scene.clock.advance(by: .seconds(1))
        scene.transport.then(response(.ok, "two"))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=stale; fwd-status=200; stored")
        #expect(scene.transport.count == 2)
        #expect(try scene.storedBody(scene.list()) == "two")
    }

    @Test(
        "Content keeps its time of reception while the upstream confirms or repeats it, small or large",
        arguments: [3, 200_000]
    )
    func contentTime(size: Int) async throws {
        let body = String(repeating: "a", count: size)
        let start = scene.clock.now
        scene.transport.then(
            response(.ok, body, fields: [.eTag: "\"1\""]),
            response(.notModified, fields: [.eTag: "\"1\""]),
            response(.ok, body)
        )
        for _ in 0..<3 {
            let result = try await scene.upstream.read(scene.list())
            #expect(result.provenance.contentFetchedAt == start && result.provenance.validatedAt == scene.clock.now)
            scene.clock.advance(by: .seconds(1))
            let hit = try await scene.upstream.read(scene.list())
            #expect(
                !hit.provenance.isValidatedNow && hit.provenance.contentFetchedAt == start
                    && hit.provenance.validatedAt == scene.clock.now - 1
            )
            scene.clock.advance(by: .seconds(60))
        }
        await scene.goDown()
        #expect(try await scene.upstream.read(scene.list()).provenance.contentFetchedAt == start)
        scene.transport.then(response(.ok, String(repeating: "b", count: size)))
        #expect(try await scene.upstream.read(scene.list(), .revalidate).provenance.contentFetchedAt == scene.clock.now)
    }

    @Test("What never becomes stale is not requested again")
    func freshForEver() async throws {
        let resource = scene.list(freshness: nil)
        scene.transport.then(response(.ok, "one"))
        _ = try await scene.upstream.read(resource)
        scene.clock.advance(by: .seconds(10 * 365 * 86400))
        #expect(try await scene.upstream.read(resource).provenance.stale == false)
        #expect(scene.transport.count == 1)
    }

    @Test("An unchanged upstream costs a 304: the copy is fresh again, its header fields follow, its body stays")
    func revalidated() async throws {
        let fields: HTTPFields = [.eTag: "\"1\"", .lastModified: "Mon, 05 Jan 2026 10:00:00 GMT", .server: "a"]
        try await scene.age(scene.list(), "one", fields: fields)
        scene.transport.then(response(.notModified, fields: [.eTag: "\"1\"", .server: "b"]))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.cacheStatus == "larder; fwd=stale; fwd-status=304")
        #expect(result.provenance.isValidatedNow && !result.provenance.stale)
        #expect(result.provenance.validatedAt == scene.clock.now)
        let request = try #require(scene.transport.requests.last)
        #expect(request.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(request.headerFields[.ifModifiedSince] == "Mon, 05 Jan 2026 10:00:00 GMT")
        let stored = try #require(try scene.upstream.storedResponse(of: scene.list()))
        #expect(stored.head.headerFields[.server] == "b")
        #expect(stored.head.headerFields[.lastModified] == fields[.lastModified])
        #expect(stored.head.status == .ok)
        #expect(try scene.body(of: stored) == "one")
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; hit; ttl=5")
    }

    @Test("A 304 that names another version than the stored one confirms nothing")
    func foreignConfirmation() async throws {
        try await scene.age(scene.list(), "one", fields: [.eTag: "\"1\""])
        scene.transport.then(response(.notModified, fields: [.eTag: "\"2\""]))
        let result = try await scene.upstream.read(scene.list())
        #expect(result.provenance.stale && !result.provenance.isValidatedNow)
        #expect(try scene.upstream.storedResponse(of: scene.list())?.head.headerFields[.eTag] == "\"1\"")
    }

    @Test("A 304 to a request without conditions is a bad response")
    func unaskedConfirmation() async throws {
        scene.transport.then(response(.notModified))
        await #expect(
            throws: UpstreamError.badResponse(status: .notModified, reason: "304 to a request without conditions")
        ) {
            try await scene.upstream.read(scene.list())
        }
    }

    @Test("A copy from the future, after the clock was set back, is not fresh, and its age is told as its distance")
    func clockSetBack() async throws {
        scene.transport.then(response(.ok, "old"), response(.ok, "new"))
        _ = try await scene.upstream.read(scene.list())
        scene.clock.advance(by: .seconds(-9))
        let policy = try await scene.upstream.read(scene.list(), .onlyIfCached)
        #expect(policy.provenance.stale && policy.cacheStatus == "larder; hit; ttl=-4")
        #expect(policy.provenance.age(at: scene.clock.now) == 9)
        #expect(policy.changeToken?.age?.seconds(at: .now()) == 9)
        #expect(try await scene.upstream.read(scene.list()).provenance.isValidatedNow)
        #expect(try scene.storedBody(scene.list()) == "new")
        #expect(try await !scene.upstream.read(scene.list()).provenance.stale)
    }

    @Test("no-cache sends a request although the copy is fresh")
    func refresh() async throws {
        scene.transport.then(response(.ok, "one"), response(.ok, "two"))
        _ = try await scene.upstream.read(scene.list())
        let result = try await scene.upstream.read(scene.list(), .revalidate)
        #expect(result.cacheStatus == "larder; fwd=request; fwd-status=200; stored")
        #expect(try scene.body(of: result.response) == "two")
    }

    @Test("only-if-cached never sends a request")
    func onlyIfCached() async throws {
        await #expect(throws: UpstreamError.notStored) { try await scene.upstream.read(scene.list(), .onlyIfCached) }
        #expect(scene.transport.count == 0)
        try await scene.age(scene.list(), "one")
        let result = try await scene.upstream.read(scene.list(), .onlyIfCached)
        #expect(result.cacheStatus == "larder; hit; ttl=-55")
        #expect(result.provenance.stale && !result.provenance.offline)
        #expect(scene.transport.count == 1)
    }

    @Test("An account's response is served to no other account")
    func credentials() async throws {
        var mine = scene.list()
        mine.credential = CredentialHash(of: "mine", key: .init(size: .bits256))
        scene.transport.then(response(.ok, "mine"), response(.ok, "shared"))
        _ = try await scene.upstream.read(mine)
        let other = try await scene.upstream.read(scene.list())
        #expect(other.cacheStatus == "larder; fwd=uri-miss; stored")
        #expect(try scene.storedBody(mine) == "mine")
        #expect(try scene.storedBody(scene.list()) == "shared")
        var yours = scene.list()
        yours.credential = CredentialHash(of: "yours", key: .init(size: .bits256))
        #expect(try scene.storedBody(yours) == nil, "not even the shared one")
    }

    @Test("An invalidated copy is validated, however fresh")
    func invalidated() async throws {
        scene.transport.then(response(.ok, "one"), response(.ok, "two"))
        _ = try await scene.upstream.read(scene.list())
        try await scene.database.write {
            try ResponseStore(scene.database).invalidate(upstream: "ships", url: "https://api.test/list", in: $0)
        }
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=stale; fwd-status=200; stored")
    }

    @Test("Bodies above 100 KB are stored as files; the next version replaces the file")
    func blobs() async throws {
        let large = String(repeating: "ship", count: 40_000)
        try await scene.age(scene.list(), large)
        let stored = try #require(try scene.upstream.storedResponse(of: scene.list()))
        guard case .blob(let blob) = stored.body else {
            Issue.record("not a file")
            return
        }
        #expect(blob.length == 160_000)
        #expect(try scene.body(of: stored) == large)
        scene.transport.then(response(.ok, "small"))
        _ = try await scene.upstream.read(scene.list())
        #expect(try scene.storedBody(scene.list()) == "small")
        #expect(throws: StorageError.blobUnavailable(blob.id)) { try scene.database.blobs.reader(blob) }
    }

    @Test("The bundled copy is served while nothing is stored, flagged, until the first response")
    func bundled() async throws {
        var resource = scene.list()
        resource.bundledAt = scene.clock.now - 3600
        scene.transport.then(failure(.unreachable(.refused)))
        let first = try await scene.upstream.read(resource)
        #expect(first.response == nil)
        #expect(first.cacheStatus == "larder; fwd=uri-miss; detail=unreachable")
        #expect(first.provenance.offline && first.provenance.stale)
        #expect(first.provenance.validatedAt == resource.bundledAt)
        let second = try await scene.upstream.read(resource)
        #expect(second.response == nil && second.cacheStatus == "larder; hit; ttl=-3600; detail=offline")
        scene.transport.then(response(.ok, "one"))
        let third = try await scene.upstream.read(resource, .revalidate)
        #expect(try scene.body(of: third.response) == "one")
        #expect(third.cacheStatus == "larder; fwd=uri-miss; stored")
        await #expect(throws: UpstreamError.notStored) {
            var other = scene.list("/other")
            other.bundledAt = .distantPast
            _ = try await scene.upstream.read(other, .onlyIfCached)
        }
    }
}
