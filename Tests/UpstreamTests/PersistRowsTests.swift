import Database
import GRDB
import HTTPTypes
import TestKit
import Testing

@testable import Upstream

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
