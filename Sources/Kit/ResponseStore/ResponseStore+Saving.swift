import Database
public import Foundation
public import GRDB
import HTTPCaching
public import HTTPTypes

extension ResponseStore {
    /// Stores a response and replaces that of the same key and variant. A blob must be finished; the response owns it
    /// from now on.
    ///
    /// - Returns: The identity of the stored response.
    /// - Throws: `StorageError/blobUnavailable(_:)` if the file of the body is missing or truncated;
    ///   `StorageError/diskFull(path:)` and others.
    @discardableResult
    public func save(_ response: CachedResponse, in db: Database) throws -> CachedResponse.ID {
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
    ///
    /// - Throws: `StorageError`, `CancellationError`.
    @discardableResult
    public func save(_ response: CachedResponse) async throws -> CachedResponse.ID {
        try await database.write { try save(response, in: $0) }
    }

    /// Updates the header fields and times of a stored response after a 304 (RFC 9111 §4.3.4). It is no longer
    /// invalidated.
    ///
    /// - Returns: False if it is no longer stored.
    /// - Throws: Errors of the database.
    @discardableResult
    public func freshen(
        _ id: CachedResponse.ID,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date,
        in db: Database
    ) throws -> Bool {
        let header = FieldCoding.encode(headerFields)
        try db.cachedStatement(sql: Self.update)
            .execute(arguments: [
                header.count, header, requestTime.millisecondsSince1970, responseTime.millisecondsSince1970,
                responseTime.millisecondsSince1970, id,
            ])
        return db.changesCount > 0
    }

    /// Records when responses were last used. A use older than the recorded one, or of a removed response, changes
    /// nothing.
    ///
    /// - Throws: Errors of the database.
    public func touch(_ accessRecorder: [CachedResponse.ID: Date], in db: Database) throws {
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
}
