import Foundation
import GRDB
import Logging
import TestKit
import Testing

@testable import Storage

@Suite struct BlobStoreTests {
    private let database: LarderDatabase

    init() throws { database = try LarderDatabase.temporary() }

    private let temporary = TemporaryFolder.unmade()
    var folder: URL { temporary.url }

    private func open() throws -> LarderDatabase {
        try LarderDatabase.withCacheTables(in: DataDirectory(at: folder), logger: Logger(label: "test"))
    }

    private func files(_ database: LarderDatabase) throws -> [String] {
        try database.blobs.fileNames().sorted()
    }

    @Test("What is written in chunks is read in ranges")
    func ranges() throws {
        let writer = try database.blobs.writer()
        for chunk in ["Hell", "", "o, ", "world"] { try writer.append(Data(chunk.utf8)) }
        let blob = try writer.finish(expectedLength: 12)
        let reader = try database.blobs.reader(blob)
        #expect(try reader.read(7..<12) == Data("world".utf8))
        #expect(try reader.read(0..<4) == Data("Hell".utf8))
        #expect(try reader.read(12..<12).isEmpty)
        #expect(try reader.readAll() == Data("Hello, world".utf8))
        #expect(throws: StorageError.rangeOutsideBlob(blob.id, requested: 7..<13, length: 12)) {
            try reader.read(7..<13)
        }
    }

    @Test("A body of another length than announced, one discarded and one released leave nothing")
    func abort() throws {
        do {
            let short = try database.blobs.writer()
            try short.append(Data("abc".utf8))
            #expect(throws: StorageError.incompleteBody(expected: 4, received: 3)) {
                try short.finish(expectedLength: 4)
            }
            #expect(try files(database).isEmpty)
            let abandoned = try database.blobs.writer()
            #expect(try files(database).count == 1)
            abandoned.abort()
            #expect(try files(database).isEmpty)
            #expect(throws: StorageError.bodyAlreadyFinished) { try abandoned.append(Data([1])) }
            #expect(throws: StorageError.bodyAlreadyFinished) { try abandoned.finish() }
            let dropped = try database.blobs.writer()
            try dropped.append(Data([1]))
            #expect(try files(database).count == 1)
        }
        #expect(try files(database).isEmpty)
    }

    @Test("A blob appears under its name only when it is whole, and has its unfinished one until a row names it")
    func unfinishedName() async throws {
        let writer = try database.blobs.writer()
        try writer.append(Data([1]))
        #expect(try files(database).allSatisfy { $0.hasSuffix(".part") })
        let blob = try writer.finish()
        #expect(try files(database) == [blob.id.fileName, blob.id.unfinishedName])
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        #expect(try files(database) == [blob.id.fileName])
    }

    @Test("A small body stays in memory, a large one becomes a file")
    func bodyWriter() throws {
        let small = BodyWriter(blobs: database.blobs, inlineLimit: 4)
        try small.append(Data([1, 2]))
        try small.append(Data([3, 4]))
        #expect(try small.finish(expectedLength: 4) == .bytes(Data([1, 2, 3, 4])))
        #expect(throws: StorageError.bodyAlreadyFinished) { try small.append(Data()) }
        let large = BodyWriter(blobs: database.blobs, inlineLimit: 4)
        for byte in 1...6 { try large.append([UInt8(byte)]) }
        guard case .blob(let blob) = try large.finish(expectedLength: 6) else {
            return #expect(Bool(false), "not a blob")
        }
        #expect(try database.blobs.reader(blob).readAll() == Data([1, 2, 3, 4, 5, 6]))
        let short = BodyWriter(blobs: database.blobs)
        #expect(throws: StorageError.incompleteBody(expected: 1, received: 0)) { try short.finish(expectedLength: 1) }
    }

    @Test(
        "A full disk while writing a body is a typed error and ends the body",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))
    )
    func diskFull() throws {
        // A link, because the writer removes a file that it could not finish.
        let path = database.directory.blobsPath + "/full.part"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let writer = BlobWriter(store: database.blobs, id: .random(), file: try OpenFile(path, O_WRONLY))
        #expect(throws: StorageError.diskFull(path: path)) { try writer.append(Data([1])) }
        #expect(throws: StorageError.bodyAlreadyFinished) { try writer.finish() }
        #expect(try files(database).isEmpty)
    }

    @Test("A body that could not move from memory to a file is discarded, not truncated")
    func bodyWriterWithoutFolder() throws {
        let writer = BodyWriter(blobs: database.blobs, inlineLimit: 1)
        try writer.append(Data([1]))
        try FileManager.default.removeItem(atPath: database.directory.blobsPath)
        #expect(throws: StorageError.self) { try writer.append(Data([2])) }
        #expect(throws: StorageError.bodyAlreadyFinished) { try writer.finish() }
    }

    @Test("The file is removed with its row once the transaction has committed, and stays if it is rolled back")
    func removalWithRow() async throws {
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1]))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try database.write { db in
                try store.remove(id, in: db)
                throw Refusal()
            }
        }
        #expect(try files(database) == [blob.id.fileName])
        let reader = try database.blobs.reader(blob)
        try await database.write { db in
            try store.remove(id, in: db)
            #expect(FileManager.default.fileExists(atPath: database.blobs.path(blob.id)))
        }
        #expect(try files(database).isEmpty)
        #expect(try reader.readAll() == Data([1]))
        #expect(try await database.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") } == 0)
    }

    @Test("A newer body removes the older one's file, a purge, a logout all files; one saved again keeps its file")
    func removalWithReplacement() async throws {
        let store = ResponseStore(database)
        let first = try database.blobs.write(Data([1]))
        try await store.save(makeCachedResponse(body: .blob(first)))
        let second = try database.blobs.write(Data([2]))
        try await store.save(makeCachedResponse(body: .blob(second)))
        try await store.save(makeCachedResponse(body: .blob(second)))
        #expect(try files(database) == [second.id.fileName])
        try await store.save(
            makeCachedResponse("https://ships.test/other", body: .blob(try database.blobs.write(Data([3]))))
        )
        #expect(try files(database).count == 2)
        try await database.write { try $0.execute(sql: "DELETE FROM stored_response") }
        #expect(try files(database).isEmpty)
    }

    @Test("A start removes unfinished files, and nothing else")
    func sweep() async throws {
        var database: LarderDatabase? = try open()
        let kept = try #require(try database?.blobs.write(Data([1])))
        try await ResponseStore(#require(database)).save(makeCachedResponse(body: .blob(kept)))
        let path = try #require(database).directory.blobsPath
        let others = ["0000000000000abc", "note-of-the-owner.txt", "note.part"]
        for name in others + ["0000000000000abc.part"] {
            try Data([3]).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        try database?.close()
        database = nil
        let again = try open()
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: path))
                == Set(others + [kept.id.fileName, ".identity"])
        )
        #expect(Set(try again.blobs.fileNames()) == [kept.id.fileName, "0000000000000abc"])
    }

    @Test("A removal that was committed before a kill is done by the next start")
    func committedRemoval() async throws {
        let temporaryCopy = TemporaryFolder.unmade()
        defer { withExtendedLifetime(temporaryCopy) {} }
        let copy = temporaryCopy.url
        let database = try open()
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1]))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        let path = database.blobs.path(blob.id)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try await database.write { try store.remove(id, in: $0) }
        #expect(!FileManager.default.fileExists(atPath: path))
        // As if the process had been killed behind the commit, before the removal.
        try bytes.write(to: URL(fileURLWithPath: path))
        try FileManager.default.copyItem(at: folder, to: copy)
        // The copy is of files that were there when the database was written.
        try Self.touch(copy)
        let killed = try LarderDatabase.withCacheTables(in: DataDirectory(at: copy), logger: Logger(label: "test"))
        #expect(try killed.blobs.fileNames() == [])
        #expect(try await killed.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM removed_blob") } == 0)
    }

    /// Makes the database the file that was written last.
    private static func touch(_ folder: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date() + 1],
            ofItemAtPath: folder.appending(path: "larder.sqlite").path
        )
    }

    @Test("TRUST-03 a file restored after its removal was committed stays: it may be that of a restored database")
    func restoredFile() async throws {
        let restored = TemporaryFolder.unmade()
        defer { withExtendedLifetime(restored) {} }
        let copy = restored.url
        let database = try open()
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data([1]))
        let id = try await store.save(makeCachedResponse(body: .blob(blob)))
        try await database.write { try store.remove(id, in: $0) }
        // The process is killed; then an older backup of blobs is put under the newer database, which has the note.
        try FileManager.default.copyItem(at: folder, to: copy)
        for name in ["larder.sqlite", "larder.sqlite-wal"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date() - 60],
                ofItemAtPath: copy.appending(path: name).path
            )
        }
        try Data([1]).write(to: copy.appending(path: "blobs/\(blob.id)"))
        for _ in 1...2 {
            let restored = try LarderDatabase.withCacheTables(
                in: DataDirectory(at: copy),
                logger: Logger(label: "test")
            )
            #expect(try restored.blobs.fileNames() == [blob.id.fileName])
            #expect(
                try await restored.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM removed_blob") } == 0
            )
            try restored.close()
        }
    }

    @Test("A finished blob that gets no row is removed with its last reference, or if it is discarded")
    func claims() throws {
        do {
            let blob = try database.blobs.write(Data([1]))
            let copy = blob
            #expect(try files(database) == [copy.id.fileName, copy.id.unfinishedName])
        }
        #expect(try files(database).isEmpty)
        let other = try database.blobs.write(Data([2]))
        database.blobs.discard(other)
        #expect(try files(database).isEmpty)
        #expect(throws: StorageError.blobUnavailable(other.id)) { try database.blobs.reader(other) }
    }

    @Test("A blob that a row names is not discarded")
    func discardedTooLate() async throws {
        let blob = try database.blobs.write(Data([1]))
        try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        database.blobs.discard(blob)
        try await database.write { try $0.execute(sql: "DELETE FROM page") }
        #expect(try files(database) == [blob.id.fileName])
    }

    @Test(
        "A response whose file is missing or truncated counts as not stored and is removed",
        arguments: [true, false]
    )
    func lostFile(isMissing: Bool) async throws {
        let store = ResponseStore(database)
        let blob = try database.blobs.write(Data(count: 1000))
        try await store.save(makeCachedResponse(body: .blob(blob)))
        if isMissing {
            try FileManager.default.removeItem(atPath: database.blobs.path(blob.id))
        } else {
            #expect(truncate(database.blobs.path(blob.id), 999) == 0)
        }
        #expect(throws: StorageError.blobUnavailable(blob.id)) { try database.blobs.reader(blob) }
        let response = try #require(try store.responses(like: makeCachedResponse()).first)
        #expect(try await store.openBody(of: response) == nil)
        #expect(try store.responses(like: makeCachedResponse()).isEmpty)
        #expect(try files(database).isEmpty)
    }

    @Test("A row for a blob whose file is not there cannot be written")
    func rowWithoutFile() async throws {
        let blob = Blob(id: .random(), length: 5)
        await #expect(throws: StorageError.blobUnavailable(blob.id)) {
            try await ResponseStore(database).save(makeCachedResponse(body: .blob(blob)))
        }
    }

    @Test("The names of blobs are read back, other names are not taken for them")
    func names() {
        #expect(BlobID(fileName: BlobID(number: 0xABC).fileName) == BlobID(number: 0xABC))
        for name in ["", "abc", "-000000000000abc", "0000000000000000", "0000000000000abc.part", "8000000000000000"] {
            #expect(BlobID(fileName: name) == nil, "\(name)")
        }
    }
}
