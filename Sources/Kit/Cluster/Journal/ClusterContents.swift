package import Concurrency
import Foundation
import Logging
import NIOCore
package import Storage

/// Files in the store that servers share, in parts of 1 MiB. Each part is read and written by a transaction of its own.
/// So no connection is held while a client or a disk is slow, and no more than a part is in memory.
///
/// A file is stored before the row that it belongs to is made, and belongs to none until that commits. A file without a
/// row is removed after ``lifetime``, by any server: also the remains of one that has ended.
enum ClusterContents {
    /// Bytes of a part; the last one has the rest.
    static let partBytes = 1 << 20
    /// How long a content without a row stays: a reader can finish when it is replaced, and the server that stores it
    /// has time for each part.
    static let lifetime = Duration.seconds(600)
    /// The most parts that one transaction removes.
    private static let removedParts = 32

    static let migration = PostgresMigration(
        "journal/003 contents",
        sql: """
            -- Files that rows of the journal name.
            CREATE TABLE content (
                id text COLLATE "C" PRIMARY KEY,
                length int8 NOT NULL,
                unused timestamptz DEFAULT now()            -- since when no row has it; NULL: one has
            );
            CREATE INDEX content_by_disuse ON content (unused) WHERE unused IS NOT NULL;

            CREATE TABLE content_part (
                content text COLLATE "C" NOT NULL REFERENCES content (id),
                number int8 NOT NULL,                       -- from 0
                bytes bytea NOT NULL,                       -- 1 MiB, of the last one what is left
                PRIMARY KEY (content, number)
            );
            -- PDFs and pictures are compressed already; and a range is read without the rest of its part.
            ALTER TABLE content_part ALTER COLUMN bytes SET STORAGE EXTERNAL;
            """
    )

    // MARK: Reading

    /// Whether a file is there.
    static func has(_ blob: Blob, in database: PostgresDatabase) async throws -> Bool {
        let sql = "SELECT length FROM content WHERE id = $1"
        return try await database.rows(sql, [blob.id.description]) { try $0.value("length") as Int } == [blob.length]
    }

    /// Returns the bytes in a range, at most one part at a time.
    ///
    /// Reading them throws `StorageError.blobUnavailable` if the file is no more.
    static func parts(of blob: Blob, _ range: Range<Int>, in database: PostgresDatabase) -> ByteStream {
        ByteStream {
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let bytes = try await part(of: blob, rest, in: database)
                rest = rest.dropFirst(bytes.count)
                return ByteBuffer(bytes: bytes)
            }
        }
    }

    /// Returns the first bytes of a range, at most those of one part.
    ///
    /// - Throws: `StorageError.blobUnavailable` if the file is no more; `ClusterError`.
    static func part(of blob: Blob, _ range: Range<Int>, in database: PostgresDatabase) async throws -> Data {
        let sql = """
            SELECT substring(bytes FROM $3::int4 FOR $4::int4) AS bytes FROM content_part
            WHERE content = $1 AND number = $2
            """
        let (number, begin) = range.lowerBound.quotientAndRemainder(dividingBy: Self.partBytes)
        let count = min(Self.partBytes - begin, range.count)
        let parameters: [any SQLParameter] = [blob.id.description, number, begin + 1, count]
        let bytes = try await database.rows(sql, parameters) { try $0.value("bytes") as Data }.first
        guard let bytes, bytes.count == count else { throw StorageError.blobUnavailable(blob.id) }
        return bytes
    }

    // MARK: Writing

    /// Stores a file, which belongs to no row yet.
    ///
    /// - Parameter read: Returns the bytes in a range of it.
    /// - Throws: `ClusterError`, `CancellationError`; errors of `read`.
    static func store(_ blob: Blob, in database: PostgresDatabase, _ read: (Range<Int>) throws -> Data) async throws {
        let (id, length) = (blob.id.description, blob.length)
        // No reader needs a part before the commit of the row, which has everything before it written and confirmed by
        // standbys. So the commit of a part waits for neither.
        let setting = "RETURNING set_config('synchronous_commit', 'off', true) AS setting"
        let insertContent = "INSERT INTO content (id, length) VALUES ($1, $2) \(setting)"
        let prolong = "UPDATE content SET unused = now() WHERE id = $1 AND unused > '-infinity' \(setting)"
        let insertPart = "INSERT INTO content_part (content, number, bytes) VALUES ($1, $2, $3)"
        for (number, offset) in stride(from: 0, to: max(1, length), by: Self.partBytes).enumerated() {
            try Task.checkCancellation()
            let bytes = try read(offset..<min(offset + Self.partBytes, length))
            guard bytes.count == min(Self.partBytes, length - offset) else {
                throw StorageError.blobUnavailable(blob.id)
            }
            try await database.write(locks: [lock(id)]) { transaction in
                let row =
                    number == 0
                    ? try transaction.rows(insertContent, [id, length]).first
                    : try transaction.rows(prolong, [id]).first
                guard row != nil else { throw StorageError.blobUnavailable(blob.id) }
                try transaction.execute(insertPart, [id, number, bytes])
            }
        }
    }

    private static func lock(_ content: String) -> String { "content/\(content)" }

    /// Assigns stored files to the rows of a change that name them, and removes others from the rows that named them. A
    /// replaced file can be read to its end. The file of a removed row must not be read any more.
    ///
    /// - Throws: `StorageError.blobUnavailable` if one no longer exists; `ClusterError`.
    static func settle(_ change: ContentChange, _ transaction: SQLTransaction) throws {
        let use = "UPDATE content SET unused = NULL WHERE id = $1 AND unused > '-infinity'"
        for id in change.named {
            guard try transaction.execute(use, [id.description]) == 1 else { throw StorageError.blobUnavailable(id) }
        }
        for (ids, time) in [(change.replaced, "now()"), (change.removed, "'-infinity'")] where !ids.isEmpty {
            let sql = "UPDATE content SET unused = \(time) WHERE id = ANY($1)"
            try transaction.execute(sql, [ids.map(\.description)])
        }
    }

    // MARK: Removal

    /// Removes files that no row has got, or whose commit is unknown and was not made. The task may be cancelled. Files
    /// that cannot be removed now are removed later.
    static func discard(_ blobs: [Blob], in database: PostgresDatabase) async {
        let contents = blobs.map(\.id.description)
        await Task {
            let sql = "UPDATE content SET unused = '-infinity' WHERE id = ANY($1) AND unused IS NOT NULL"
            let isMarked: Void? = try? await database.write(locks: contents.map(lock)) { transaction in
                try transaction.execute(sql, [contents])
                return
            }
            if isMarked != nil { await removeSome(in: database) }
        }.value
    }

    /// The most parts that a request removes itself.
    private static let partsAtOnce = 64

    /// Removes some of the files that may not be read any more. Files that cannot be removed now are removed later.
    fileprivate static func removeSome(in database: PostgresDatabase) async {
        _ = try? await removeUnused(in: database, mostParts: Self.partsAtOnce)
    }

    /// Removes files that no row has had for a time.
    ///
    /// - Parameters:
    ///   - age: The time; those that may not be read any more are removed in any case.
    ///   - most: The most parts; a few more are removed.
    /// - Returns: How many files were removed.
    fileprivate static func removeUnused(
        in database: PostgresDatabase,
        for age: Duration = lifetime,
        mostParts most: Int = .max
    ) async throws -> Int {
        var (contents, parts) = (0, 0)
        while parts < most {
            let removed = try await database.write(locks: ["contents"]) { try removeParts(unusedFor: age, $0) }
            guard let removed else { break }
            parts += removed.parts
            if removed.isWhole { contents += 1 }
        }
        return contents
    }

    /// Removes some parts of one file, and the file with the last of them.
    ///
    /// - Returns: Nil if there is none.
    private static func removeParts(unusedFor age: Duration, _ transaction: SQLTransaction) throws
        -> (parts: Int, isWhole: Bool)?
    {
        // From here on, no row can get it.
        let claim = """
            UPDATE content SET unused = '-infinity'
            WHERE unused IS NOT NULL AND id =
                (SELECT id FROM content WHERE unused <= now() - make_interval(secs => $1) ORDER BY unused LIMIT 1)
            RETURNING id
            """
        guard let id: String = try transaction.rows(claim, [age / .seconds(1)]).first?.value("id") else { return nil }
        let delete = """
            DELETE FROM content_part WHERE content = $1 AND number IN
                (SELECT number FROM content_part WHERE content = $1 ORDER BY number LIMIT \(Self.removedParts))
            """
        let parts = try transaction.execute(delete, [id])
        guard parts < Self.removedParts else { return (parts, false) }
        try transaction.execute("DELETE FROM content WHERE id = $1", [id])
        return (parts, true)
    }
}

// Copies of all files, in one transaction.
extension ClusterContents {
    /// Stores a file that a row has.
    ///
    /// - Throws: `ClusterError`; errors of `read`.
    static func insert(_ blob: Blob, in transaction: SQLTransaction, _ read: (Range<Int>) throws -> Data) throws {
        let id = blob.id.description
        try transaction.execute("INSERT INTO content (id, length, unused) VALUES ($1, $2, NULL)", [id, blob.length])
        for (number, offset) in stride(from: 0, to: max(1, blob.length), by: Self.partBytes).enumerated() {
            let bytes = try read(offset..<min(offset + Self.partBytes, blob.length))
            try transaction.execute("INSERT INTO content_part VALUES ($1, $2, $3)", [id, number, bytes])
        }
    }

    /// Passes on the parts of a file.
    ///
    /// - Throws: `StorageError.blobUnavailable` if it is not whole; `ClusterError`; errors of `receive`.
    static func read(_ id: BlobID, in transaction: SQLTransaction, _ receive: (Data) throws -> Void) throws {
        let selectLength = "SELECT length FROM content WHERE id = $1"
        let select = "SELECT bytes FROM content_part WHERE content = $1 AND number = $2"
        guard var rest: Int = try transaction.rows(selectLength, [id.description]).first?.value("length") else {
            throw StorageError.blobUnavailable(id)
        }
        var number = 0
        while rest > 0 {
            let bytes: Data = try transaction.rows(select, [id.description, number]).first?.value("bytes") ?? Data()
            guard !bytes.isEmpty, bytes.count <= rest else { throw StorageError.blobUnavailable(id) }
            try receive(bytes)
            rest -= bytes.count
            number += 1
        }
    }
}

// Files that rows name (`JournalTables.contents`): blobs of this server, and parts in PostgreSQL if several servers
// share the rows. A server that lacks a file fetches it when a program needs it.
extension UserDatabase {
    /// The bytes of a file that a row names.
    package enum Content: Sendable {
        case file(BlobReader)
        /// In PostgreSQL: reading a range throws `StorageError.blobUnavailable` if the file is no more.
        case parts(@Sendable (Range<Int>) -> ByteStream)
    }

    /// Opens a file to be sent. It can be read to its end if its row gets another one meanwhile.
    ///
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `ClusterError`.
    package func content(_ blob: Blob) async throws -> Content {
        do {
            return .file(try database.blobs.reader(blob))
        } catch StorageError.blobUnavailable(let id) {
            guard let parts = try await shared?.journal.parts(of: blob) else { throw StorageError.blobUnavailable(id) }
            return .parts(parts)
        }
    }

    /// Opens a file, which this server has from now on.
    ///
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `ClusterError`,
    ///   `CancellationError`.
    package func reader(_ blob: Blob) async throws -> BlobReader {
        try await fetching(blob) { try database.blobs.reader($0) }
    }

    /// Returns a path at which a program can read a file as long as the value exists, whatever becomes of its row.
    ///
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `ClusterError`,
    ///   `CancellationError`.
    package func hold(_ blob: Blob, in folder: ScratchFolder) async throws -> TemporaryPath {
        try await fetching(blob) { try database.blobs.hold($0, in: folder) }
    }

    /// Opens a file, which is fetched before if this server lacks it. A fetched file that no row names any more exists
    /// as long as its value.
    private func fetching<Opened>(_ blob: Blob, _ open: (Blob) throws -> Opened) async throws -> Opened {
        do {
            return try open(blob)
        } catch StorageError.blobUnavailable(let id) {
            guard let journal = shared?.journal else { throw StorageError.blobUnavailable(id) }
            return try open(try await journal.fetch(blob))
        }
    }
}

extension Journal {
    /// Stores files for other servers, and writes rows that may name them. Those that rows do not name are removed.
    func storing<Value: Sendable>(_ files: [Blob], _ write: () async throws -> Value) async throws -> Value {
        guard !files.isEmpty else { return try await write() }
        try checkPrepared()
        file.written.add(files)
        defer { file.written.remove(files) }
        do {
            for blob in files {
                let reader = try file.database.blobs.reader(blob)
                try await ClusterContents.store(blob, in: store.database) { try reader.read($0) }
            }
            // Nothing is changed for a client that has left.
            try Task.checkCancellation()
            return try await write()
        } catch {
            await ClusterContents.discard(files, in: store.database)
            throw error
        }
    }

    /// Returns the reading of a file in PostgreSQL; nil if it is not there.
    func parts(of blob: Blob) async throws -> (@Sendable (Range<Int>) -> ByteStream)? {
        try checkPrepared()
        let database = store.database
        guard try await ClusterContents.has(blob, in: database) else { return nil }
        return { ClusterContents.parts(of: blob, $0, in: database) }
    }

    /// Returns a file that this server keeps from now on, until its row is removed or gets another file.
    func fetch(_ blob: Blob) async throws -> Blob {
        try checkPrepared()
        let (blobs, rows) = (file.database.blobs, file.tables)
        return try await fetches.holding([blob.id.description]) {
            // Another request has fetched it.
            if (try? blobs.reader(blob)) != nil { return blob }
            let writer = try blobs.writer(blob.id)
            var rest = 0..<blob.length
            while !rest.isEmpty {
                let part = try await ClusterContents.part(of: blob, rest, in: store.database)
                try writer.append(part)
                rest = rest.dropFirst(part.count)
            }
            let fetched = try writer.finish(expectedLength: blob.length)
            try await file.database.write { db in
                guard try rows.names(fetched.id, db) else { return }
                try blobs.insert(fetched, in: db)
            }
            return fetched
        }
    }

    /// Removes some of the files in PostgreSQL whose rows are gone. The task may be cancelled.
    func removeSomeContents() async {
        let database = store.database
        await Task { await ClusterContents.removeSome(in: database) }.value
    }

    /// Removes files in PostgreSQL that no row has had for a time.
    ///
    /// - Returns: their number.
    func removeContents(unusedFor age: Duration = ClusterContents.lifetime) async throws -> Int {
        try await ClusterContents.removeUnused(in: store.database, for: age)
    }

    /// Removes files in PostgreSQL that no row has, also the remains of a server that has ended, at once and then now
    /// and again, until the task is cancelled.
    package func keepRemovingContents() async {
        while !Task.isCancelled {
            do {
                let count = try await removeContents()
                if count > 0 {
                    logger.info("files without a row were removed", metadata: ["count": .stringConvertible(count)])
                }
            } catch is CancellationError {
                return
            } catch {
                logger.error("files without a row could not be removed", metadata: ["error": "\(error)"])
            }
            guard (try? await sleep(ClusterContents.lifetime)) != nil else { return }
        }
    }
}
