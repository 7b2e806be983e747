import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

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
        #expect(
            try database.blobs.fileNames().sorted()
                == [lost, kept].flatMap { [$0.id.fileName, $0.id.unfinishedName] }.sorted()
        )
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

    /// Starts twice with copies of the files, as a killed process leaves them.
    ///
    /// - Returns: The files that no row names before, and the names of the blobs' files after each start.
    private func afterKill(
        _ database: LarderDatabase,
        change: (DirectoryScenario) throws -> Void = { _ in }
    ) throws -> (strangers: [BlobID], files: [[String]]) {
        let copy = DirectoryScenario()
        try KilledCopy.make(of: URL(filePath: database.directory.path), at: copy.folder)
        try change(copy)
        let strangers = try copy.examine().files.unknown
        let killed = try copy.open()
        let first = try killed.blobs.fileNames().sorted()
        // The second start is one after a kill, too.
        let again = DirectoryScenario()
        try KilledCopy.make(of: copy.folder, at: again.folder)
        try killed.close()
        let last = try again.open()
        let second = try last.blobs.fileNames().sorted()
        try last.close()
        return (strangers, [first, second])
    }

    @Test("TRUST-02 a file without a row that is finished when the process is killed is removed at the next start")
    func killedBeforeCommit() async throws {
        let database = try LarderDatabase.temporary()
        let kept = try database.blobs.write(Data([1]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(kept)))
        let place = try ScratchFolder("uploads", in: database.directory).place()
        try Data([2]).write(to: URL(filePath: place.path))
        let waiting = (try database.blobs.write(Data([3])), try database.blobs.adopt(place))
        let found = try afterKill(database)
        #expect(found.strangers == [])
        #expect(found.files == [[kept.id.fileName], [kept.id.fileName]])
        withExtendedLifetime(waiting) {}
    }

    @Test("TRUST-02 a file that a row names stays if the process is killed right after the commit")
    func killedAfterCommit() async throws {
        let database = try LarderDatabase.temporary()
        let blob = try database.blobs.write(Data([1]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        let found = try afterKill(database) { copy in
            let path = "\(copy.path)/blobs/"
            #expect(link(path + blob.id.fileName, path + blob.id.unfinishedName) == 0)
        }
        #expect(found.strangers == [])
        #expect(found.files == [[blob.id.fileName], [blob.id.fileName]])
    }

    @Test("TRUST-03 without the log, in which its row may have been, a finished file stays in this and later starts")
    func killedAndLogLost() throws {
        let scenario = DirectoryScenario()
        let kept = try scenario.fill()
        let database = try scenario.open()
        let blob = try database.blobs.write(Data([2]))
        let found = try afterKill(database) { try $0.remove("larder.sqlite-wal") }
        #expect(found.strangers == [blob.id])
        let both = [kept, blob].map(\.id.fileName).sorted()
        #expect(found.files == [both, both])
        try database.close()
    }

    @Test("On a file system without hard links a finished file has its name only")
    func withoutLinks() async throws {
        let scenario = try FaultScenario()
        var names: [[String]] = []
        for step in 1... {
            let (blob, hasFailed) = await scenario.scope.failing(.noLinks, at: step) {
                try? scenario.database.blobs.write(Data([1]))
            }
            guard hasFailed else { break }
            if let blob {
                #expect(try scenario.database.blobs.reader(blob).readAll() == Data([1]))
                names.append(try scenario.database.blobs.fileNames())
                #expect(names.last == [blob.id.fileName])
            }
        }
        #expect(names.count == 1)
        #expect(try scenario.database.blobs.fileNames() == [])
    }
}

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

extension LogRecorder {
    /// The messages of notices, warnings and errors, without their metadata.
    var messages: [String] {
        lines.compactMap { line in
            let level = line.prefix { $0 != " " }
            guard ["notice", "warning", "error"].contains(level) else { return nil }
            let message = line.dropFirst(level.count + 1)
            return String(message.firstRange(of: " [").map { message[..<$0.lowerBound] } ?? message)
        }
    }
}
