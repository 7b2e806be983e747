import Foundation
import GRDB
import Logging
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

/// A byte that the disk changes by itself.
@Suite struct BlobChecksumsTests {
    private static let block = BlobChecksums.blockBytes

    private static func flip(_ path: String, at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data([byte ^ 0x10]))
        try file.close()
    }

    private static func bytes(_ count: Int) -> Data {
        var random = SeededRandom(seed: 27)
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    @Test(
        "Checksums are those of the blocks, however the bytes come, and are read from their stored form",
        arguments: [0, 1, block - 1, block, block + 1, 3 * block]
    )
    func parts(count: Int) throws {
        let bytes = Self.bytes(count)
        var (whole, parts) = (BlobChecksums(), BlobChecksums())
        whole.append(bytes)
        for start in stride(from: 0, to: count, by: 100_003) {
            parts.append(bytes[start..<min(start + 100_003, count)])
        }
        #expect(whole == parts && whole.data.count == 4 * ((count + Self.block - 1) / Self.block))
        #expect(BlobChecksums(whole.data, length: count) == whole)
        #expect(BlobChecksums(whole.data + [0], length: count) == nil)
        #expect(whole.match(bytes, at: 0))
    }

    @Test("TRUST-27 a changed byte in a file is not read, the other blocks are, and the file is not opened again")
    func changed() throws {
        let scenario = DirectoryScenario()
        let bytes = Self.bytes(2 * Self.block + 1000)
        let id = try storeAndRead(bytes, in: scenario)
        let found = try scenario.examine().files
        #expect(found.changed == [id] && found.missing.isEmpty && found.cut.isEmpty && found.unreadable.isEmpty)
        #expect(found.faults() == "1 changed: \(id)")
        // The next start meets it again.
        let second = try scenario.open()
        #expect(throws: StorageError.blobUnavailable(id)) {
            try second.blobs.reader(Blob(id: id, length: bytes.count)).readAll()
        }
        try second.close()
    }

    /// Stores a blob, changes a byte of it, reads it, and closes the database.
    private func storeAndRead(_ bytes: Data, in scenario: DirectoryScenario) throws -> BlobID {
        let database = try scenario.open()
        let blob = try database.blobs.write(bytes)
        try database.write { try database.blobs.insert(blob, in: $0) }
        let stored = Blob(id: blob.id, length: blob.length)
        #expect(try database.blobs.reader(stored).readAll() == bytes)
        let changed = Self.block + 7
        try Self.flip(database.blobs.path(blob.id), at: changed)
        let reader = try database.blobs.reader(stored)
        #expect(try reader.read(Self.block - 10..<Self.block) == bytes[Self.block - 10..<Self.block])
        #expect(try reader.read(2 * Self.block..<bytes.count) == bytes[(2 * Self.block)...])
        for range in [changed..<changed + 1, Self.block..<Self.block + 1, 0..<bytes.count] {
            #expect(throws: StorageError.blobUnavailable(blob.id)) { try reader.read(range) }
        }
        #expect(throws: StorageError.blobUnavailable(blob.id)) { try database.blobs.reader(stored) }
        try database.close()
        return blob.id
    }

    @Test("TRUST-27 what a program has made is checked as well; the file of an older build has no checksums")
    func adopted() throws {
        let database = try LarderDatabase.temporary()
        let scratch = try ScratchFolder("uploads", in: database.directory)
        let bytes = Self.bytes(5000)
        let place = scratch.place()
        try bytes.write(to: URL(filePath: place.path))
        let blob = try database.blobs.adopt(place)
        try database.write { try database.blobs.insert(blob, in: $0) }
        try Self.flip(database.blobs.path(blob.id), at: 4999)
        let stored = Blob(id: blob.id, length: blob.length)
        try database.write { try $0.execute(sql: "UPDATE blob SET checksums = NULL") }
        #expect(try database.blobs.reader(stored).readAll().count == 5000)
        #expect(throws: StorageError.blobUnavailable(blob.id)) { try database.blobs.reader(blob).readAll() }
    }

    @Test("TRUST-27 a cached response with a changed byte is removed, so that the upstream is asked again")
    func cached() async throws {
        let database = try LarderDatabase.withCacheTables(in: .temporary(), logger: .quiet)
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Self.bytes(200_000))
        let response = makeCachedResponse("https://ships.test/1", body: .blob(blob))
        _ = try await database.write { try store.save(response, in: $0) }
        try Self.flip(database.blobs.path(blob.id), at: 100)
        guard case .blob(let reader)? = try await store.openBody(of: response) else {
            Issue.record("no body")
            return
        }
        #expect(throws: StorageError.blobUnavailable(blob.id)) { try reader.readAll() }
        #expect(try await store.openBody(of: response) == nil)
        let rows = try database.integer("SELECT count(*) FROM stored_response")
        #expect(rows == 0)
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

@Suite struct BlobCheckTests {
    private func ids(_ count: Int) -> [BlobID] { (1...count).map { BlobID(number: Int64($0)) } }

    @Test("If there are more files than fit into the message, it has the number of the others")
    func names() {
        var check = BlobCheck()
        #expect(check.faults() == nil && check.strangers() == nil)
        check.missing = ids(7)
        check.unreadable = ids(1)
        check.unknown = ids(5)
        let first = ids(5).map(\.description).joined(separator: ", ")
        #expect(check.faults() == "7 missing: \(first) and 2 more; 1 unreadable: \(ids(1)[0])")
        #expect(check.strangers() == "5 unknown: \(first)")
    }

    @Test("TRUST-03 a file of the right length that cannot be read is named")
    func unreadable() throws {
        let scenario = DirectoryScenario()
        let blob = try scenario.fill()
        // A folder with the length of the file: its name is there, and reading fails.
        let path = scenario.path + "/blobs/\(blob.id)"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let length = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        try scenario.change("UPDATE blob SET length = \(length)")
        let found = try scenario.examine().files
        #expect(found.unreadable == [blob.id] && found.missing.isEmpty && found.cut.isEmpty)
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
