package import Concurrency
package import Foundation
package import GRDB
package import HTTP
import HTTPTypes
import NIOCore

extension ResponseStore {
    /// Stores a response and replaces that of the same key and variant. A blob must be finished; the response owns it
    /// from now on.
    ///
    /// - Returns: The identity of the stored response.
    /// - Throws: `StorageError/blobUnavailable(_:)` if the file of the body is missing or truncated;
    ///   `StorageError/diskFull(path:)` and others.
    @discardableResult
    package func save(_ response: CachedResponse, in db: Database) throws -> CachedResponse.ID {
        var (blob, bytes): (Blob?, Data) = (nil, Data())
        switch response.body {
        case .bytes(let data): bytes = data
        case .blob(let other):
            blob = other
            try database.blobs.insert(other, in: db)
        }
        try removeParts(of: response, in: db)
        let id = try upsertRow(of: response, blob: blob, in: db)
        if bytes.isEmpty {
            try db.cachedStatement(sql: "DELETE FROM stored_body WHERE response_id = ?").execute(arguments: [id])
        } else {
            try db.cachedStatement(sql: Self.upsertBody).execute(arguments: [id, bytes])
        }
        try db.cachedStatement(sql: Self.deleteVariantsBeyond)
            .execute(arguments: [
                response.upstream, response.head.url, response.head.method.rawValue, response.credential.columnValue,
                id, maximumVariants - 1,
            ])
        return id
    }

    private func upsertRow(of response: CachedResponse, blob: Blob?, in db: Database) throws -> CachedResponse.ID {
        let head = response.head
        let varying = FieldCoding.encode(FieldCoding.canonicalForm(of: head.varyingFields))
        let header = FieldCoding.encode(head.headerFields)
        let upsert = try db.cachedStatement(sql: Self.upsert)
        try upsert.setArguments([
            response.upstream, head.url, head.method.rawValue, response.credential.columnValue, varying,
            head.status.code, head.status.reasonPhrase, header,
            head.requestTime.millisecondsSince1970, head.responseTime.millisecondsSince1970,
            response.isInvalidated,
            head.url.utf8.count + varying.count + header.count + response.body.count,
            response.lastUsed.millisecondsSince1970, blob?.id, response.isPinned,
            response.contentTime.millisecondsSince1970, head.parts?.completeLength,
        ])
        guard let id = try Int64.fetchAll(upsert).first else {
            throw StorageError.damagedDatabase(
                path: database.directory.databasePath,
                detail: "an inserted row did not come back"
            )
        }
        return id
    }

    /// Stores a response in a transaction of its own; returns when it is on the disk.
    @discardableResult
    package func save(_ response: CachedResponse) async throws -> CachedResponse.ID {
        try await database.write { try save(response, in: $0) }
    }

    /// Updates the header fields and times of a stored response after a 304 (RFC 9111 §4.3.4). It is no longer
    /// invalidated.
    ///
    /// - Returns: False if it is no longer stored.
    @discardableResult
    package func freshen(_ id: CachedResponse.ID, by head: CachedResponseHead, in db: Database) throws -> Bool {
        let (header, time) = (FieldCoding.encode(head.headerFields), head.responseTime.millisecondsSince1970)
        try db.cachedStatement(sql: Self.update)
            .execute(arguments: [header.count, header, head.requestTime.millisecondsSince1970, time, time, id])
        return db.changesCount > 0
    }

    /// Records when responses were last used. A use older than the recorded one, or of a removed response, changes
    /// nothing.
    package func touch(_ accessRecorder: [CachedResponse.ID: Date], in db: Database) throws {
        let statement = try db.cachedStatement(sql: Self.updateLastUse)
        for (id, date) in accessRecorder {
            let time = date.millisecondsSince1970
            try statement.execute(arguments: [time, id, time])
        }
    }

    static let upsert = """
        INSERT INTO stored_response
            (upstream, url, method, credential, varying, status, reason, header, request_time, response_time,
            invalidated, size, last_used, blob_id, pinned, content_time, complete_length)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (upstream, url, method, credential, varying) DO UPDATE SET
            status = excluded.status, reason = excluded.reason, header = excluded.header,
            request_time = excluded.request_time, response_time = excluded.response_time,
            invalidated = excluded.invalidated, size = excluded.size,
            last_used = max(last_used, excluded.last_used), blob_id = excluded.blob_id,
            pinned = max(pinned, excluded.pinned), content_time = excluded.content_time,
            complete_length = excluded.complete_length
        RETURNING id
        """

    static let upsertBody = """
        INSERT INTO stored_body (response_id, bytes) VALUES (?, ?)
        ON CONFLICT (response_id) DO UPDATE SET bytes = excluded.bytes
        """

    static let deleteVariantsBeyond = """
        DELETE FROM stored_response WHERE id IN (
            SELECT id FROM stored_response
            WHERE upstream = ? AND url = ? AND method = ? AND credential = ? AND id <> ?
            ORDER BY response_time DESC LIMIT -1 OFFSET ?
        )
        """

    static let update = """
        UPDATE stored_response SET
            size = size - length(header) + ?, header = ?, request_time = ?, response_time = ?, invalidated = 0,
            last_used = max(last_used, ?)
        WHERE id = ?
        """

    static let updateLastUse = "UPDATE stored_response SET last_used = ? WHERE id = ? AND last_used < ?"

    package enum OpenBody: Sendable {
        /// The whole body.
        case bytes(Data)
        /// An open file.
        case blob(BlobReader)
    }

    /// Opens the body of a stored response. A response whose file is missing or truncated is removed.
    ///
    /// - Returns: Nil for such a response. Only then this waits for a writer.
    package func openBody(of response: CachedResponse) async throws -> OpenBody? {
        switch response.body {
        case .bytes(let data): return .bytes(data)
        case .blob(let blob):
            do {
                return .blob(try database.blobs.reader(blob))
            } catch StorageError.blobUnavailable {
                // By the id of the blob, because the response may have another body since it was read.
                try await database.writeFreeingRoom { db in
                    try db.execute(sql: Self.deleteByBlob, arguments: [blob.id])
                }
                return nil
            }
        }
    }

    static let deleteByBlob = "DELETE FROM stored_response WHERE blob_id = ?"

    /// Invalidates everything stored under a URL, of all methods, credentials and variants (RFC 9111 §4.4): it must be
    /// validated before it is used as fresh.
    ///
    /// It stays stored, because it is served while the upstream is unreachable.
    package func invalidate(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidation).execute(arguments: [upstream, url])
    }

    package func invalidate(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidationByID).execute(arguments: [id])
    }

    /// Removes one stored response and its blob.
    package func remove(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByID).execute(arguments: [id])
    }

    /// Removes everything stored under a URL, of all methods, credentials and variants.
    package func remove(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByURL).execute(arguments: [upstream, url])
    }

    /// Removes everything that was fetched with a credential, from all upstreams, as at a logout.
    package func remove(credential: CredentialHash, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByCredential).execute(arguments: [credential.bytes])
    }

    static let invalidation = "UPDATE stored_response SET invalidated = 1 WHERE upstream = ? AND url = ?"
    static let invalidationByID = "UPDATE stored_response SET invalidated = 1 WHERE id = ?"
    static let deleteByID = "DELETE FROM stored_response WHERE id = ?"
    static let deleteByURL = "DELETE FROM stored_response WHERE upstream = ? AND url = ?"
    static let deleteByCredential = "DELETE FROM stored_response WHERE credential = ? AND credential <> x''"
}

/// Notifies of the stored responses that a committed transaction has removed, by any statement, trigger or cascade.
///
/// GRDB calls it on the writer's queue only, so its state needs no lock.
final class ResponseRemoval: TransactionObserver {
    private let notify: @Sendable (CachedResponse.ID) -> Void
    private var removed: [CachedResponse.ID] = []

    init(_ notify: @escaping @Sendable (CachedResponse.ID) -> Void) {
        self.notify = notify
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        if case .delete(tableName: "stored_response") = eventKind { return true }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) { removed.append(event.rowID) }

    func databaseDidCommit(_ db: Database) {
        for id in removed { notify(id) }
        removed = []
    }

    func databaseDidRollback(_ db: Database) { removed = [] }
}

extension LarderDatabase {
    /// Notifies `notify` of each stored response that is removed from now on, by eviction, purge, logout or
    /// replacement.
    ///
    /// - Parameter notify: Is called after the removal is visible and before the write returns, on the writer's thread.
    ///   It must not block.
    package func onRemovalOfResponses(_ notify: @escaping @Sendable (CachedResponse.ID?) -> Void) {
        pool.add(transactionObserver: ResponseRemoval(notify), extent: .databaseLifetime)
        onReset { notify(nil) }
    }
}

/// Counts removals of stored responses. A rendered response must not outlive the stored one, which may be evicted,
/// purged or deleted.
package struct RemovalCounter: Sendable {
    private let all = VersionCounter()
    private let each = VersionCounters()

    package init() {}

    /// Counts the removal of a response.
    ///
    /// - Parameter id: The response; nil if all were removed.
    package func removed(_ id: CachedResponse.ID?) {
        // In this order: a reader that takes the counter of one after its bump also sees the bump of all.
        all.bump()
        if let id { each[id].bump() } else { each.bumpAll() }
    }

    /// Returns a token of all removals, to be taken before a stored response is looked up.
    package func snapshot() -> ChangeToken { ChangeToken(of: all) }

    /// Returns a token that holds while the response is stored; nil if one was removed since `before`, because it may
    /// have been this one.
    package func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        let changeToken = ChangeToken(of: each[id])
        return before.holds(at: .distantPast) ? changeToken : nil
    }
}
