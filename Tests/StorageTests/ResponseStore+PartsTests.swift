import Foundation
import GRDB
import HTTP
import TestKit
import Testing

@testable import Storage

/// Bodies that are stored in parts.
@Suite struct ResponseStorePartsTests {
    private let database: LarderDatabase
    private let store: ResponseStore

    init() throws {
        database = try LarderDatabase.withCacheTables(in: .temporary(), logger: .quiet)
        store = ResponseStore(database)
    }

    /// Byte i of a whole of a megabyte is i modulo 251.
    private static func bytes(_ range: Range<Int>) -> Data { Data(range.map { UInt8($0 % 251) }) }

    private func response() -> CachedResponse {
        var response = makeCachedResponse(body: .bytes(Data()))
        response.head.parts = StoredParts(of: 1 << 20, [])
        return response
    }

    private func save(_ ranges: Range<Int>...) async throws -> CachedResponse {
        let bodies: [(Range<Int>, StoredBody)] = try ranges.map { range in
            let writer = BodyWriter(blobs: database.blobs)
            try writer.append(Self.bytes(range))
            return (range, try writer.finish())
        }
        let empty = response()
        try await database.write { db in
            let id = try store.save(empty, in: db)
            for (range, body) in bodies { try store.addPart(range, body, to: id, in: db) }
        }
        return try #require(try store.responses(like: empty).first)
    }

    private func read(_ response: CachedResponse, _ range: Range<Int>) async throws -> Data? {
        guard let readers = try await store.openParts(of: response, range) else { return nil }
        return try readers.reduce(into: Data()) { $0 += try $1.read($1.range) }
    }

    private func count(_ table: String) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
    }

    @Test("RFC 9111 §3.4 What is stored in parts, in files and in the database, is read as one")
    func pieces() async throws {
        let stored = try await save(0..<1000, 300_000..<600_000, 500..<300_000)
        #expect(stored.head.parts?.ranges == [0..<600_000])
        for range in [0..<1, 999..<1001, 0..<600_000, 299_999..<300_001, 7..<7] {
            #expect(try await read(stored, range) == Self.bytes(range))
        }
        #expect(try await read(stored, 599_999..<600_001) == nil)
    }

    @Test("Parts count in the size of their response, and are removed with it, files included")
    func size() async throws {
        let before = try await save()
        let empty = try #require(try store.totals().first).bytes
        let stored = try await save(0..<1000, 300_000..<600_000)
        #expect(try store.totals().first?.bytes == empty + 301_000 && stored.id == before.id)
        #expect(try database.blobs.fileNames().count == 1)
        let eviction = CacheEviction(database, budget: CacheBudget(bytes: 300_000))
        #expect(try await eviction.run().bytes == empty + 301_000)
        #expect(try count("stored_part") == 0 && count("blob") == 0 && database.blobs.fileNames() == [])
        #expect(try store.totals().first?.bytes ?? 0 == 0)
    }

    @Test("A part that is stored already is not stored again; one that contains others takes their place")
    func contained() async throws {
        let stored = try await save(0..<1000, 10..<20, 2000..<3000, 500..<4000)
        #expect(stored.parts.map(\.range) == [0..<1000, 500..<4000])
    }

    @Test("A whole takes the place of the parts under its key")
    func whole() async throws {
        let stored = try await save(0..<1000, 300_000..<600_000)
        let id = try await store.save(makeCachedResponse(body: .bytes(Data("[]".utf8))))
        let whole = try #require(try store.responses(like: stored).first)
        #expect(id == stored.id && whole.head.parts == nil && whole.parts == [] && whole.body.count == 2)
        #expect(try count("stored_part") == 0 && database.blobs.fileNames() == [])
        let size = try database.read { try Int.fetchOne($0, sql: "SELECT size FROM stored_response") ?? 0 }
        #expect(try store.totals().first?.bytes == size && size < 1000)
    }

    @Test("A response of which a part's file is lost is removed, and fetched again")
    func lost() async throws {
        let stored = try await save(0..<1000, 300_000..<600_000)
        let name = try #require(try database.blobs.fileNames().first)
        try FileManager.default.removeItem(atPath: "\(database.directory.blobsPath)/\(name)")
        #expect(try await read(stored, 0..<1000) != nil)
        #expect(try await read(stored, 300_000..<300_001) == nil)
        #expect(try store.responses(like: stored).isEmpty && count("stored_part") == 0)
    }
}
