import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage

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
