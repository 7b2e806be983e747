import Foundation
import GRDB
import HTTP
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// The fetched responses that a limited cache keeps, and the uses that it records.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamStoreTests {
    private static let large = String(repeating: "x", count: 2000)

    @Test("A response that the budget has no room for is returned, not stored, and says so")
    func tooLarge() async throws {
        let scene = try Scenario(budget: CacheBudget(bytes: 1000))
        scene.transport.then(response(.ok, Self.large))
        let result = try await scene.upstream.read(scene.list())
        #expect(try scene.body(of: result.response) == Self.large)
        #expect(result.cacheStatus == "larder; fwd=uri-miss")
        #expect(try scene.storedBody(scene.list()) == nil)
    }

    @Test("A response that has no room removes the copy that it supersedes")
    func supersedes() async throws {
        let scene = try Scenario(budget: CacheBudget(bytes: 1000))
        try await scene.age(scene.list(), "small")
        #expect(try scene.storedBody(scene.list()) == "small")
        scene.transport.then(response(.ok, Self.large))
        #expect(try await scene.upstream.read(scene.list()).cacheStatus == "larder; fwd=stale; fwd-status=200")
        #expect(try scene.storedBody(scene.list()) == nil)
    }

    @Test("A large response that does not fit leaves no file")
    func noFile() async throws {
        let scene = try Scenario(budget: CacheBudget(bytes: 1000))
        scene.transport.then(response(.ok, String(repeating: "x", count: BlobStore.inlineLimit + 1)))
        _ = try await scene.upstream.read(scene.list())
        #expect(try scene.database.blobs.fileNames().isEmpty)
    }

    @Test("A source of rows is stored whatever its size, and no eviction removes it")
    func sourceOfRows() async throws {
        let scene = try Scenario(budget: CacheBudget(bytes: 1000))
        var resource = scene.list()
        resource.isSourceOfRows = true
        scene.transport.then(response(.ok, Self.large))
        #expect(try await scene.upstream.read(resource).cacheStatus == "larder; fwd=uri-miss; stored")
        _ = try await CacheEviction(scene.database, budget: CacheBudget(bytes: 0)).run()
        #expect(try scene.storedBody(resource) == Self.large)
    }

    @Test(
        "A token of a stored response is invalid once the response is evicted or purged",
        arguments: ["evicted", "purged"]
    )
    func removal(how: String) async throws {
        let scene = try Scenario()
        try await scene.age(scene.list(freshness: nil))
        let changeToken = try #require(try await scene.upstream.read(scene.list(freshness: nil)).changeToken)
        #expect(changeToken.holds(at: .now()))
        if how == "evicted" {
            _ = try await CacheEviction(scene.database, budget: CacheBudget(bytes: 0)).run()
        } else {
            _ = try await CachePurge(upstream: "ships").run(on: scene.database)
        }
        #expect(try scene.storedBody(scene.list()) == nil)
        #expect(!changeToken.holds(at: .now()))
    }

    @Test("A cached response that is served again counts as a use of the stored one")
    func useOfKept() async throws {
        let scene = try Scenario()
        try await scene.age(scene.list(freshness: nil))
        let changeToken = try #require(try await scene.upstream.read(scene.list(freshness: nil)).changeToken)
        scene.clock.advance(by: .seconds(3600))
        changeToken.noteUse(at: .now())
        #expect(try await scene.accessRecorder.flush(to: scene.database) == 1)
        #expect(try scene.upstream.storedResponse(of: scene.list())?.lastUsed == scene.clock.now)
    }

    @Test(
        "A large response that cannot be saved leaves no file: the app throws, or the database does",
        arguments: [true, false]
    )
    func noOrphan(appThrows: Bool) async throws {
        let scene = try Scenario()
        var resource = scene.list()
        if appThrows {
            resource.validate = { _ throws(UpstreamError) in .init { _ in throw CancellationError() } }
        } else {
            try await scene.refuseToStore()
        }
        scene.transport.then(response(.ok, String(repeating: "x", count: BlobStore.inlineLimit + 1)))
        await #expect(throws: UpstreamError.self) { try await scene.upstream.read(resource) }
        #expect(try scene.database.blobs.fileNames().isEmpty)
    }

    @Test("A read of a stored copy notes its use, and writes nothing")
    func use() async throws {
        let scene = try Scenario()
        try await scene.age(scene.list(freshness: nil), "one")
        let before = try scene.upstream.storedResponse(of: scene.list())?.lastUsed
        _ = try await scene.upstream.read(scene.list(freshness: nil))
        #expect(try scene.upstream.storedResponse(of: scene.list())?.lastUsed == before)
        #expect(try await scene.accessRecorder.flush(to: scene.database) == 1)
        #expect(try scene.upstream.storedResponse(of: scene.list())?.lastUsed == scene.clock.now)
    }
}

@Suite("Results from rows that are kept without an end") struct UpstreamRowsTests {
    @Test("SRV-05 Nothing is requested; age and flags are those of a copy, until the reachability changes")
    func flags() async throws {
        let scene = try Scenario()
        let fetchedAt = scene.clock.now.addingTimeInterval(-90)
        let result = scene.upstream.result(ofRowsFetchedAt: fetchedAt)
        #expect(
            result.response == nil && result.provenance.source == .upstream
                && result.provenance.validatedAt == fetchedAt
        )
        #expect(
            !result.provenance.offline && !result.provenance.stale
                && result.cacheStatus == "larder; hit; ttl=\(Int(Int32.max) - 90)"
        )
        let changeToken = try #require(result.changeToken)
        #expect(
            changeToken.deadline == nil && changeToken.age?.seconds(at: .now()) == 90 && changeToken.holds(at: .now())
        )
        #expect(scene.transport.requests.isEmpty)
        await scene.goDown()
        #expect(!changeToken.holds(at: .now()))
        let offline = scene.upstream.result(ofRowsFetchedAt: fetchedAt)
        #expect(
            offline.provenance.offline && offline.provenance.stale
                && offline.cacheStatus?.hasSuffix("; detail=offline") == true
        )
    }
}

@Suite("Rows of a response")
struct PersistRowsTests {
    private struct Refused: Error {}

    private func seen(_ scene: Scenario) throws -> [String] {
        try scene.database.read { try String.fetchAll($0, sql: "SELECT body FROM seen ORDER BY rowid") }
    }

    /// A resource whose rows are written in parts; the part of a number fails.
    private func resource(_ scene: Scenario, parts: Int, failing: Int? = nil) -> Resource {
        var resource = scene.list()
        let number = Watched(0)
        resource.validate = { _ throws(UpstreamError) in
            .inParts { db in
                let part = number.update {
                    $0 += 1
                    return $0
                }
                try db.execute(sql: "INSERT INTO seen VALUES (?)", arguments: ["\(part)"])
                if part == failing { throw Refused() }
                return part == parts
            }
        }
        return resource
    }

    @Test("TRUST-19 parts are written in transactions of their own, the last one with the response")
    func parts() async throws {
        let scene = try Scenario()
        let resource = resource(scene, parts: 3)
        // Refuses the response unless all parts are there.
        try await scene.database.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER early BEFORE INSERT ON stored_response WHEN (SELECT count(*) FROM seen) < 3
                    BEGIN SELECT RAISE(ABORT, 'early'); END
                    """
            )
        }
        scene.transport.then(response(.ok, "new"))
        #expect(try await scene.upstream.read(resource).cacheStatus == "larder; fwd=uri-miss; stored")
        #expect(try seen(scene) == ["1", "2", "3"] && scene.storedBody(resource) == "new")
    }

    @Test("If a part fails, those before it stay, and the response is not stored")
    func failure() async throws {
        let scene = try Scenario(attempts: 1)
        scene.transport.then(response(.ok, "new"))
        await #expect(throws: UpstreamError.storageFailed(isFull: false)) {
            try await scene.upstream.read(resource(scene, parts: 3, failing: 2))
        }
        #expect(try seen(scene) == ["1"] && scene.storedBody(scene.list()) == nil)
    }
}
