package import Concurrency
package import Database
package import Foundation
import NIOCore
package import SharedStore

/// Files in the store that servers share, in parts of 1 MiB. Each is read and written by a transaction of its own: no
/// connection is held while a client or a disk is slow, and no more than a part is in memory.
///
/// A file is stored before the row that it belongs to is made, and belongs to none until that commits. A file without a
/// row is removed after ``lifetime``, by any server: also the remains of one that has ended.
///
/// The tables are `<name>` (`id`, `length`, `unused`: since when no row has it, NULL if one has) and `<name>_part`
/// (`content`, `number`, `bytes`).
package struct SharedContents: Sendable {
    /// Bytes of a part; the last one has the rest.
    static let partBytes = 1 << 20
    /// How long a content without a row stays: a reader can finish when it is replaced, and the server that stores it
    /// has time for each part.
    package static let lifetime = Duration.seconds(600)
    /// The most parts that one transaction removes.
    private static let removedParts = 32

    let table: String

    package init(_ table: String) {
        self.table = table
    }

    // MARK: Reading

    /// Whether a file is there.
    ///
    /// - Throws: `SharedStoreError`.
    package func has(_ blob: Blob, in database: SharedDatabase) async throws -> Bool {
        let sql = "SELECT length FROM \(table) WHERE id = $1"
        return try await database.rows(sql, [blob.id.description]) { try $0.value("length") as Int } == [blob.length]
    }

    /// Returns the bytes in a range, at most one part at a time.
    ///
    /// Reading them throws `StorageError.blobUnavailable` if the file is no more.
    package func parts(of blob: Blob, _ range: Range<Int>, in database: SharedDatabase) -> ByteStream {
        let sql = """
            SELECT substring(bytes FROM $3::int4 FOR $4::int4) AS bytes FROM \(table)_part
            WHERE content = $1 AND number = $2
            """
        return ByteStream {
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let (number, begin) = rest.lowerBound.quotientAndRemainder(dividingBy: Self.partBytes)
                let count = min(Self.partBytes - begin, rest.count)
                let parameters: [any SQLParameter] = [blob.id.description, number, begin + 1, count]
                let bytes = try await database.rows(sql, parameters) { try $0.value("bytes") as Data }.first
                guard let bytes, bytes.count == count else { throw StorageError.blobUnavailable(blob.id) }
                rest = rest.dropFirst(count)
                return ByteBuffer(bytes: bytes)
            }
        }
    }

    // MARK: Writing

    /// Stores a file, which belongs to no row yet.
    ///
    /// - Parameter read: Returns the bytes in a range of it.
    /// - Throws: `SharedStoreError`, `CancellationError`; errors of `read`.
    package func store(_ blob: Blob, in database: SharedDatabase, _ read: (Range<Int>) throws -> Data) async throws {
        let (id, length) = (blob.id.description, blob.length)
        // No reader needs a part before the row commits, which has everything before it written, and confirmed by
        // standbys. So the commit of a part waits for neither.
        let setting = "RETURNING set_config('synchronous_commit', 'off', true) AS setting"
        let insertContent = "INSERT INTO \(table) (id, length) VALUES ($1, $2) \(setting)"
        let prolong = "UPDATE \(table) SET unused = now() WHERE id = $1 AND unused > '-infinity' \(setting)"
        let insertPart = "INSERT INTO \(table)_part (content, number, bytes) VALUES ($1, $2, $3)"
        for (number, offset) in stride(from: 0, to: max(1, length), by: Self.partBytes).enumerated() {
            try Task.checkCancellation()
            let bytes = try read(offset..<min(offset + Self.partBytes, length))
            guard bytes.count == min(Self.partBytes, length - offset) else {
                throw StorageError.blobUnavailable(blob.id)
            }
            try await database.write(turns: [turn(id)]) { transaction in
                let row =
                    number == 0
                    ? try transaction.rows(insertContent, [id, length]).first
                    : try transaction.rows(prolong, [id]).first
                guard row != nil else { throw StorageError.blobUnavailable(blob.id) }
                try transaction.execute(insertPart, [id, number, bytes])
            }
        }
    }

    private func turn(_ content: String) -> String { "\(table)/\(content)" }

    /// Gives a stored file to a row, in the transaction that makes it.
    ///
    /// - Throws: `StorageError.blobUnavailable` if it is no more; `SharedStoreError`.
    package func use(_ blob: Blob, _ transaction: SQLTransaction) throws {
        let sql = "UPDATE \(table) SET unused = NULL WHERE id = $1 AND unused > '-infinity'"
        guard try transaction.execute(sql, [blob.id.description]) == 1 else {
            throw StorageError.blobUnavailable(blob.id)
        }
    }

    /// Takes a file from a row that has another one now.
    ///
    /// - Throws: `SharedStoreError`.
    package func release(_ blob: Blob, _ transaction: SQLTransaction) throws {
        try transaction.execute("UPDATE \(table) SET unused = now() WHERE id = $1", [blob.id.description])
    }

    /// Takes files from their rows: they may not be read any more.
    ///
    /// - Throws: `SharedStoreError`.
    package func abandon(_ blobs: [Blob], _ transaction: SQLTransaction) throws {
        let sql = "UPDATE \(table) SET unused = '-infinity' WHERE id = ANY($1)"
        try transaction.execute(sql, [blobs.map(\.id.description)])
    }

    // MARK: Removal

    /// Removes files that no row has got, or whose commit is unknown and was not made. The task may be cancelled. Files
    /// that cannot be removed now are removed later.
    package func discard(_ blobs: [Blob], in database: SharedDatabase) async {
        let contents = blobs.map(\.id.description)
        await Task {
            let sql = "UPDATE \(table) SET unused = '-infinity' WHERE id = ANY($1) AND unused IS NOT NULL"
            let isMarked: Void? = try? await database.write(turns: contents.map(turn)) { transaction in
                try transaction.execute(sql, [contents])
                return
            }
            if isMarked != nil { await removeSome(in: database) }
        }.value
    }

    /// The most parts that a request removes itself.
    private static let partsAtOnce = 64

    /// Removes some of the files that may not be read any more. Files that cannot be removed now are removed later.
    package func removeSome(in database: SharedDatabase) async {
        _ = try? await removeUnused(in: database, mostParts: Self.partsAtOnce)
    }

    /// Removes files that no row has had for a time.
    ///
    /// - Parameters:
    ///   - age: The time; those that may not be read any more are removed in any case.
    ///   - most: The most parts; a few more are removed.
    /// - Returns: How many files were removed.
    /// - Throws: `SharedStoreError`, `CancellationError`.
    package func removeUnused(
        in database: SharedDatabase,
        for age: Duration = lifetime,
        mostParts most: Int = .max
    ) async throws -> Int {
        var (contents, parts) = (0, 0)
        while parts < most {
            let removed = try await database.write(turns: ["\(table)s"]) { try removeParts(unusedFor: age, $0) }
            guard let removed else { break }
            parts += removed.parts
            if removed.isWhole { contents += 1 }
        }
        return contents
    }

    /// Removes some parts of one file, and it with the last of them.
    ///
    /// - Returns: Nil if there is none.
    private func removeParts(unusedFor age: Duration, _ transaction: SQLTransaction) throws
        -> (parts: Int, isWhole: Bool)?
    {
        // From here on, no row can get it.
        let claim = """
            UPDATE \(table) SET unused = '-infinity'
            WHERE unused IS NOT NULL AND id =
                (SELECT id FROM \(table) WHERE unused <= now() - make_interval(secs => $1) ORDER BY unused LIMIT 1)
            RETURNING id
            """
        guard let id: String = try transaction.rows(claim, [age / .seconds(1)]).first?.value("id") else { return nil }
        let delete = """
            DELETE FROM \(table)_part WHERE content = $1 AND number IN
                (SELECT number FROM \(table)_part WHERE content = $1 ORDER BY number LIMIT \(Self.removedParts))
            """
        let parts = try transaction.execute(delete, [id])
        guard parts < Self.removedParts else { return (parts, false) }
        try transaction.execute("DELETE FROM \(table) WHERE id = $1", [id])
        return (parts, true)
    }
}

// Files that belong to rows: blobs in the server's own database, parts of 1 MiB in the shared store.
extension UserCopy {
    /// Copies a file to the shared store, for a row that is inserted in the same transaction.
    ///
    /// - Returns: Its identifier there.
    /// - Throws: `StorageError.blobUnavailable` if it is lost; `SharedStoreError`.
    package func insertContent(_ blob: Blob, in contents: SharedContents) throws -> String {
        let (file, id) = (try blobs.reader(blob), blob.id.description)
        let insertContent = "INSERT INTO \(contents.table) (id, length, unused) VALUES ($1, $2, NULL)"
        try transaction.execute(insertContent, [id, blob.length])
        let insertPart = "INSERT INTO \(contents.table)_part (content, number, bytes) VALUES ($1, $2, $3)"
        for (number, range) in Self.parts(of: blob.length) {
            try transaction.execute(insertPart, [id, number, try file.read(range)])
        }
        return id
    }

    /// Copies a file to the server's own database, for a row that is inserted in the same transaction.
    ///
    /// - Throws: `StorageError`, `SharedStoreError`.
    package func insertBlob(_ content: String, length: Int, from contents: SharedContents) throws -> Blob {
        let writer = try blobs.writer()
        for (number, _) in Self.parts(of: length) { try writer.append(try part(number, of: content, contents)) }
        let blob = try writer.finish(expectedLength: length)
        try blobs.insert(blob, in: db)
        return blob
    }

    /// Returns whether the bytes are the same in both.
    ///
    /// - Throws: `StorageError.blobUnavailable` if the file is lost; `SharedStoreError`.
    package func isEqual(_ blob: Blob, _ content: String, in contents: SharedContents) throws -> Bool {
        let file = try blobs.reader(blob)
        return try Self.parts(of: blob.length).allSatisfy { number, range in
            try file.read(range) == part(number, of: content, contents)
        }
    }

    /// The numbers and ranges of the parts. An empty file has one.
    private static func parts(of length: Int) -> [(number: Int, range: Range<Int>)] {
        stride(from: 0, to: max(1, length), by: SharedContents.partBytes).enumerated().map { number, offset in
            (number, offset..<min(offset + SharedContents.partBytes, length))
        }
    }

    private func part(_ number: Int, of content: String, _ contents: SharedContents) throws -> Data {
        let sql = "SELECT bytes FROM \(contents.table)_part WHERE content = $1 AND number = $2"
        return try transaction.rows(sql, [content, number]).first?.value("bytes") ?? Data()
    }
}
