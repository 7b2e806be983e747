import Concurrency
import Foundation
import GRDB
import NIOCore
import Storage
import TestKit
import Testing

@testable import Cluster

/// Files that rows name: `picture.blob_id`.
@Suite("Files of rows, of one server and of several", .timeLimit(.minutes(10)))
struct ContentsTests {
    private struct Refused: Error {}

    private static let put = """
        INSERT INTO picture VALUES (?1, 'x', ?2, ?3)
        ON CONFLICT DO UPDATE SET blob_id = excluded.blob_id, length = excluded.length
        """
    private static let mebibyte = 1 << 20

    private static func bytes(_ count: Int, _ value: UInt8 = 1) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) &+ value })
    }

    private static let migrations = [
        SchemaMigration(
            "pictures/001",
            sql: """
                CREATE TABLE picture (
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL, blob_id INTEGER, length INTEGER NOT NULL
                ) STRICT;
                CREATE UNIQUE INDEX picture_by_blob ON picture (blob_id);
                CREATE TRIGGER picture_went AFTER DELETE ON picture BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                CREATE TRIGGER picture_changed AFTER UPDATE OF blob_id ON picture
                WHEN old.blob_id IS NOT new.blob_id BEGIN
                    DELETE FROM blob WHERE id = old.blob_id;
                END;
                """
        )
    ]
    private static let tables = JournalTables(replicated: ["picture"], contents: ["picture": "blob_id"])

    private static func server(_ name: String, _ cluster: JournalCluster) async throws -> JournalServer {
        let server = try await JournalServer(
            opening: name,
            in: cluster,
            folder: .unmade(),
            migrations: migrations,
            tables: tables
        )
        try await server.journal.prepare()
        return server
    }

    private static func users(_ server: JournalServer) -> UserDatabase {
        UserDatabase(server.database, server.journal, kept: .zero)
    }

    /// Gives a picture a file.
    @discardableResult
    private static func put(_ picture: Int, _ bytes: Data, _ users: UserDatabase) async throws -> Blob {
        let blobs = users.database.blobs
        let blob = try blobs.write(bytes)
        try await users.write(scope: "pictures", contents: [blob]) { db in
            try blobs.insert(blob, in: db)
            try db.execute(sql: put, arguments: [picture, blob.id, blob.length])
        }
        return Blob(id: blob.id, length: blob.length)
    }

    private static func remove(_ picture: Int, _ users: UserDatabase) async throws {
        try await users.write(scope: "pictures") {
            try $0.execute(sql: "DELETE FROM picture WHERE id = ?", arguments: [picture])
        }
    }

    private static func read(_ blob: Blob, _ users: UserDatabase, _ range: Range<Int>? = nil) async throws -> Data {
        let range = range ?? 0..<blob.length
        switch try await users.content(blob) {
        case .file(let reader): return try reader.read(range)
        case .parts(let parts):
            var read = Data()
            for try await part in parts(range) { read += Data(part.readableBytesView) }
            return read
        }
    }

    private static func isHere(_ blob: Blob, _ users: UserDatabase) throws -> Bool {
        let sql = "SELECT 1 FROM blob WHERE id = ?"
        let hasRow = try users.read { try Int.fetchOne($0, sql: sql, arguments: [blob.id]) != nil }
        let hasFile = (try? users.database.blobs.reader(blob)) != nil
        #expect(hasRow == hasFile)
        return hasFile
    }

    /// Numbers of files in PostgreSQL, of their parts, and of files without a row.
    private static func counts(_ cluster: JournalCluster) async throws -> [Int] {
        let sql = """
            SELECT (SELECT count(*) FROM content) AS a, (SELECT count(*) FROM content_part) AS b,
                (SELECT count(*) FROM content WHERE unused IS NOT NULL) AS c
            """
        return try await cluster.database.rows(sql) { row in try ["a", "b", "c"].map { try row.value($0) as Int } }[0]
    }

    @Test("A server by itself has each file with its row, and none after a write that fails")
    func alone() async throws {
        let database = try LarderDatabase.temporary(migrations: Journal.fileMigrations + Self.migrations)
        let users = UserDatabase(database)
        let blob = try await Self.put(1, Self.bytes(3), users)
        #expect(try await Self.read(blob, users) == Self.bytes(3))
        let other = try await Self.put(1, Self.bytes(4), users)
        #expect(try !Self.isHere(blob, users) && Self.isHere(other, users))
        let lost = try database.blobs.write(Self.bytes(5))
        await #expect(throws: Refused.self) {
            try await users.write(scope: "pictures", contents: [lost]) { _ in throw Refused() }
        }
        #expect(try !Self.isHere(lost, users))
        await #expect(throws: StorageError.blobUnavailable(blob.id)) { try await users.content(blob) }
        await #expect(throws: StorageError.self) {
            try await users.hold(blob, in: try ScratchFolder("scratch", in: database.directory))
        }
    }

    @Test("A file is read on the other server whole and in ranges, fetched once for programs, and goes with its row")
    func elsewhere() async throws {
        let cluster = try await JournalCluster()
        let servers = [try await Self.server("one", cluster), try await Self.server("two", cluster)]
        defer { withExtendedLifetime(servers) {} }
        let (one, two) = (Self.users(servers[0]), Self.users(servers[1]))
        let scratch = try ScratchFolder("scratch", in: two.database.directory)
        let bytes = Self.bytes(2 * Self.mebibyte + 5)
        let blob = try await Self.put(1, bytes, one)
        #expect(try Self.isHere(blob, one))
        #expect(try await Self.counts(cluster) == [1, 3, 0])
        _ = try await two.catchUp()
        #expect(try !Self.isHere(blob, two))
        #expect(try await Self.read(blob, two) == bytes)
        let middle = Self.mebibyte - 2..<Self.mebibyte + 3
        #expect(try await Self.read(blob, two, middle) == bytes[middle])
        let held = try await (0..<16).concurrentMap { _ in try await two.hold(blob, in: scratch) }
        for place in held { #expect(try Data(contentsOf: URL(filePath: place.path)) == bytes) }
        #expect(try Self.isHere(blob, two))

        // Replaced: who reads the former one may finish.
        let begun = try await two.content(blob)
        let empty = try await Self.put(1, Data(), two)
        #expect(try !Self.isHere(blob, two) && Self.isHere(empty, two))
        _ = try await one.catchUp()
        #expect(try !Self.isHere(blob, one))
        #expect(try await Self.read(blob, one) == bytes)
        guard case .file(let reader) = begun else { throw Refused() }
        #expect(try reader.readAll() == bytes)
        for place in held { #expect(try Data(contentsOf: URL(filePath: place.path)) == bytes) }
        #expect(try await Self.read(empty, one) == Data())
        #expect(try await Self.counts(cluster) == [2, 4, 1])

        // Without a row no server has it, and PostgreSQL has not either.
        _ = try await one.hold(empty, in: try ScratchFolder("scratch", in: one.database.directory))
        try await Self.remove(1, one)
        _ = try await two.catchUp()
        #expect(try !Self.isHere(empty, one) && !Self.isHere(empty, two))
        #expect(try await Self.counts(cluster) == [1, 3, 1])
        #expect(try await one.shared?.journal.removeContents() == 0, "it may be read")
        #expect(try await one.shared?.journal.removeContents(unusedFor: .zero) == 1)
        await #expect(throws: StorageError.blobUnavailable(blob.id)) { try await two.content(blob) }
        await #expect(throws: StorageError.blobUnavailable(blob.id)) { try await two.hold(blob, in: scratch) }
    }

    @Test("A file that changes its row stays; one that is fetched while its row goes is not kept")
    func moved() async throws {
        let cluster = try await JournalCluster()
        let servers = [try await Self.server("one", cluster), try await Self.server("two", cluster)]
        defer { withExtendedLifetime(servers) {} }
        let (one, two) = (Self.users(servers[0]), Self.users(servers[1]))
        let blob = try await Self.put(1, Self.bytes(9), one)
        _ = try await two.catchUp()
        try await one.write(scope: "pictures") { db in
            try db.execute(sql: "UPDATE picture SET id = 2 WHERE id = 1")
        }
        #expect(try Self.isHere(blob, one))
        #expect(try await Self.counts(cluster) == [1, 1, 0])
        try await Self.put(2, Self.bytes(3), one)
        _ = try await two.catchUp()
        // The row is known to be gone; its file can be read for a while.
        let place = try await two.hold(blob, in: try ScratchFolder("scratch", in: two.database.directory))
        #expect(try Data(contentsOf: URL(filePath: place.path)) == Self.bytes(9))
        #expect(try !Self.isHere(blob, two))
    }

    @Test("A write that fails, or whose file was removed before it, leaves nothing in PostgreSQL and on the disk")
    func refused() async throws {
        let cluster = try await JournalCluster()
        let server = try await Self.server("one", cluster)
        defer { withExtendedLifetime(server) {} }
        let one = Self.users(server)
        let blobs = one.database.blobs
        let lost = try blobs.write(Self.bytes(3 * Self.mebibyte))
        await #expect(throws: Refused.self) {
            try await one.write(scope: "pictures", contents: [lost]) { _ in throw Refused() }
        }
        #expect(try await Self.counts(cluster) == [0, 0, 0])
        #expect(try !Self.isHere(lost, one))
        let late = try blobs.write(Self.bytes(3))
        try await cluster.execute(
            """
            CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN UPDATE content SET unused = ''-infinity'' WHERE id = new.content; RETURN new; END'
            """
        )
        try await cluster.execute(
            "CREATE TRIGGER forgotten AFTER INSERT ON content_part FOR EACH ROW EXECUTE FUNCTION forget()"
        )
        await #expect(throws: StorageError.blobUnavailable(late.id)) {
            try await one.write(scope: "pictures", contents: [late]) { db in
                try blobs.insert(late, in: db)
                try db.execute(sql: Self.put, arguments: [1, late.id, late.length])
            }
        }
        #expect(try await Self.counts(cluster) == [0, 0, 0])
        #expect(try await cluster.numbers() == [])
        #expect(try blobs.fileNames() == [])
    }

    @Test("SCALE-07 What a killed server has stored of a file goes once nobody can be storing it")
    func swept() async throws {
        let cluster = try await JournalCluster()
        let server = try await Self.server("one", cluster)
        let kept = try await Self.put(1, Self.bytes(3), Self.users(server))
        try await cluster.execute("INSERT INTO content (id, length) VALUES ('00000000000000aa', 3000000)")
        try await cluster.execute(
            "INSERT INTO content_part SELECT '00000000000000aa', n, '\\x00' FROM generate_series(0, 40) AS n"
        )
        #expect(try await server.journal.removeContents() == 0, "it may be under way")
        try await cluster.execute("UPDATE content SET unused = now() - interval '11 minutes' WHERE unused < now()")
        let sweeping = Task { await server.journal.keepRemovingContents() }
        try await BoundedWait.poll(for: "the removal") { try await Self.counts(cluster) == [1, 1, 0] }
        sweeping.cancel()
        await sweeping.value
        #expect(try await Self.read(kept, Self.users(server)) == Self.bytes(3))
    }

    @Test("SCALE-18 Files are copied to an empty journal and back; a snapshot keeps those that a server has")
    func copied() async throws {
        let cluster = try await JournalCluster()
        let source = try LarderDatabase.temporary(migrations: Journal.fileMigrations + Self.migrations)
        let bytes = Self.bytes(Self.mebibyte + 1)
        let (large, empty) = (
            try await Self.put(1, bytes, UserDatabase(source)), try await Self.put(2, Data(), UserDatabase(source))
        )
        let there = JournalCopy(Self.tables, schema: 1, of: source, in: cluster.database)
        try await cluster.database.write { transaction in
            try source.read { try there.copy($0, to: transaction) }
        }
        #expect(try await Self.counts(cluster) == [2, 3, 0])
        let server = try await Self.server("one", cluster)
        defer { withExtendedLifetime(server) {} }
        let one = Self.users(server)
        #expect(try await Self.read(large, one) == bytes)
        let scratch = try ScratchFolder("scratch", in: one.database.directory)
        for blob in [large, empty] { _ = try await one.hold(blob, in: scratch) }
        try await one.shared?.journal.snapshots.restore()
        #expect(try Self.isHere(large, one) && Self.isHere(empty, one))

        let target = try LarderDatabase.temporary(migrations: Journal.fileMigrations + Self.migrations)
        let back = JournalCopy(Self.tables, schema: 1, of: target, in: cluster.database)
        try await cluster.database.write { transaction in
            try target.write { try back.copy(transaction, to: $0) }
        }
        #expect(try await Self.read(large, UserDatabase(target)) == bytes)
        #expect(try await Self.read(empty, UserDatabase(target)) == Data())
        let second = try await Self.put(1, Self.bytes(2), UserDatabase(target))
        #expect(try Self.isHere(second, UserDatabase(target)) && !Self.isHere(large, UserDatabase(target)))
    }
}
