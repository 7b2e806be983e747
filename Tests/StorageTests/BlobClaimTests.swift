import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Database
@testable import ResponseStore

@Suite struct BlobClaimTests {
    @Test("TRUST-02 a file whose commit may have succeeded stays until a later commit shows that no row names it")
    func doubtful() async throws {
        let database = try LarderDatabase.temporary()
        let (lost, kept) = (try database.blobs.write(Data([1])), try database.blobs.write(Data([2])))
        for blob in [lost, kept] {
            blob.claim?.attempt()
            blob.claim?.settle(.unknown)
            // The outcome of a later transaction says nothing of the first.
            blob.claim?.settle(.rolledBack)
        }
        // As if the transaction of one of them were found committed.
        try await database.pool.write {
            try $0.execute(sql: "INSERT INTO blob (id, length) VALUES (?, 1)", arguments: [kept.id])
        }
        for blob in [lost, kept] { database.blobs.discard(blob) }
        #expect(Set(try database.blobs.fileNames()) == [lost.id.fileName, kept.id.fileName])
        try await ResponseStore(database).save(makeCachedResponse())
        #expect(try database.blobs.fileNames() == [kept.id.fileName])
    }

    @Test("A file whose transaction was rolled back is removed when it is discarded, one that is committed never")
    func certain() async throws {
        let database = try LarderDatabase.temporary()
        let blob = try database.blobs.write(Data([1]))
        blob.claim?.attempt()
        blob.claim?.settle(.rolledBack)
        database.blobs.discard(blob)
        #expect(try database.blobs.fileNames() == [])
        let other = try database.blobs.write(Data([2]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(other)))
        database.blobs.discard(other)
        #expect(try database.blobs.fileNames() == [other.id.fileName])
    }
}
