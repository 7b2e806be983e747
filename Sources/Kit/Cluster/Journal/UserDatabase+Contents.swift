package import Concurrency
import Logging
package import Storage

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
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `SharedStoreError`.
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
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `SharedStoreError`,
    ///   `CancellationError`.
    package func reader(_ blob: Blob) async throws -> BlobReader {
        try await fetching(blob) { try database.blobs.reader($0) }
    }

    /// Returns a path at which a program can read a file as long as the value exists, whatever becomes of its row.
    ///
    /// - Throws: `StorageError.blobUnavailable` if no row has it any more; other `StorageError`s, `SharedStoreError`,
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
        file.written.add(files)
        defer { file.written.remove(files) }
        do {
            for blob in files {
                let reader = try file.database.blobs.reader(blob)
                try await SharedContents.store(blob, in: store.database) { try reader.read($0) }
            }
            // Nothing is changed for a client that has left.
            try Task.checkCancellation()
            return try await write()
        } catch {
            await SharedContents.discard(files, in: store.database)
            throw error
        }
    }

    /// Returns the reading of a file in PostgreSQL; nil if it is not there.
    func parts(of blob: Blob) async throws -> (@Sendable (Range<Int>) -> ByteStream)? {
        let database = store.database
        guard try await SharedContents.has(blob, in: database) else { return nil }
        return { SharedContents.parts(of: blob, $0, in: database) }
    }

    /// Returns a file that this server has from now on, until its row is gone or gets another one.
    func fetch(_ blob: Blob) async throws -> Blob {
        let (blobs, rows) = (file.database.blobs, file.tables)
        return try await fetches.holding([blob.id.description]) {
            // Another request has fetched it.
            if (try? blobs.reader(blob)) != nil { return blob }
            let writer = try blobs.writer(blob.id)
            var rest = 0..<blob.length
            while !rest.isEmpty {
                let part = try await SharedContents.part(of: blob, rest, in: store.database)
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
        await Task { await SharedContents.removeSome(in: database) }.value
    }

    /// Removes files in PostgreSQL that no row has had for a time.
    ///
    /// - Returns: their number.
    /// - Throws: `SharedStoreError`, `CancellationError`.
    func removeContents(unusedFor age: Duration = SharedContents.lifetime) async throws -> Int {
        try await SharedContents.removeUnused(in: store.database, for: age)
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
                try await sleep(SharedContents.lifetime)
            } catch is CancellationError {
                return
            } catch {
                logger.error("files without a row could not be removed", metadata: ["error": "\(error)"])
                guard (try? await sleep(SharedContents.lifetime)) != nil else { return }
            }
        }
    }
}
