import Foundation
import GRDB
import HTTP
import Storage
import TestKit
import Testing

@Suite struct ResponseStoreSavingTests {
    @Test(
        "Eight tasks that save and read one key see complete responses, and leave one response, one file, right totals"
    )
    func oneKey() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<20 {
                        // All bytes of a body are equal, and its length follows from them: a mixed one would show.
                        let value = UInt8(task * 20 + round)
                        let bytes = Data(repeating: value, count: 100 + Int(value))
                        let body: StoredBody =
                            round.isMultiple(of: 2) ? .bytes(bytes) : .blob(try database.blobs.write(bytes))
                        try await store.save(makeCachedResponse(body: body, seconds: Double(value)))
                        let responses = try store.responses(like: makeCachedResponse())
                        #expect(responses.count == 1)
                        guard let response = responses.first else { continue }
                        let seen: Data?
                        switch try await store.openBody(of: response) {
                        case .bytes(let data): seen = data
                        case .blob(let reader): seen = try reader.readAll()
                        case nil: seen = nil  // Replaced between the two reads.
                        }
                        guard let seen, let first = seen.first else { continue }
                        #expect(seen == Data(repeating: first, count: 100 + Int(first)))
                        #expect(response.head.responseTime == noon + Double(first))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.totals().map(\.responses) == [1])
        let sizes = try await database.pool.read { try Int.fetchOne($0, sql: "SELECT sum(size) FROM stored_response") }
        #expect(try store.totals().map(\.bytes) == [sizes])
        let blobs = try await database.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") }
        #expect(try database.blobs.fileNames().count == blobs)
    }
}
