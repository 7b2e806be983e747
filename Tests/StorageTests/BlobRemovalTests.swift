import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct BlobRemovalTests {
    @Test("TRUST-02 records that cannot be deleted cost a warning for each batch, not for each commit")
    func batches() async throws {
        let log = LogRecorder()
        let database = try LarderDatabase.temporary(logger: log.logger)
        let store = ResponseStore(database)
        try await database.pool.writeWithoutTransaction {
            try $0.execute(
                sql: "CREATE TEMP TRIGGER stuck BEFORE DELETE ON removed_blob BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        }
        func removeFiles(_ count: Int) async throws {
            for _ in 0..<count {
                let id = try await store.save(makeCachedResponse(body: .blob(try database.blobs.write(Data([1])))))
                try await database.write { try store.remove(id, in: $0) }
            }
        }
        try await removeFiles(BlobRemoval.batch + 20)
        #expect(log.messages == ["Files of removed blobs stay for now"])
        try await removeFiles(BlobRemoval.batch)
        #expect(log.messages.count == 2)
        try await database.pool.writeWithoutTransaction { try $0.execute(sql: "DROP TRIGGER stuck") }
        try await removeFiles(BlobRemoval.batch)
        #expect(log.messages.count == 2)
        let left = try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM removed_blob") ?? -1 }
        #expect(left < BlobRemoval.batch)
    }

    @Test("TRUST-02 a file that a row names stays, whatever is recorded of it")
    func named() async throws {
        let database = try LarderDatabase.temporary()
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1]))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        try await database.write { db in
            try db.execute(sql: "INSERT INTO removed_blob (blob) SELECT id FROM blob")
        }
        #expect(try database.blobs.fileNames() == [blob.id.fileName])
        try await database.write { try store.remove(id, in: $0) }
        #expect(try database.blobs.fileNames() == [])
    }
}
