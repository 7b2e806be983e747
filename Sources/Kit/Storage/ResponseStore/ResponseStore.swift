package import Foundation
package import GRDB
import HTTP
package import HTTPTypes
import Logging

/// Stores the responses of all upstreams: the database of an HTTP cache. It does not decide which responses may be
/// stored or used.
///
/// Key: upstream, method, URL, credential, and the request fields that `Vary` nominates. Functions that take a
/// `Database` run in its transaction, so that an app can change its rows with them.
package struct ResponseStore: Sendable {
    let database: LarderDatabase
    /// The most variants of one URL, method and credential, so that `Vary: Cookie` does not fill the disk; the oldest
    /// are removed first.
    let maximumVariants: Int

    package init(_ database: LarderDatabase, maximumVariants: Int = 32) {
        self.database = database
        self.maximumVariants = max(1, maximumVariants)
    }

    /// Returns the variants stored under a URL and method that a credential may see, its own and the shared ones,
    /// newest first. Blocks, but never for a writer.
    ///
    /// - Parameter credential: Nil: shared ones only.
    package func responses(
        upstream: String,
        method: HTTPRequest.Method,
        url: String,
        credential: CredentialHash?
    ) throws -> [CachedResponse] {
        try database.read {
            try responses(upstream: upstream, method: method, url: url, credential: credential, in: $0)
        }
    }

    /// Returns the same inside a transaction.
    ///
    /// - Throws: `StorageError`; errors of the database.
    package func responses(
        upstream: String,
        method: HTTPRequest.Method,
        url: String,
        credential: CredentialHash?,
        in db: Database
    ) throws -> [CachedResponse] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: Self.selectByKey),
            arguments: [upstream, url, method.rawValue, Data(), credential.columnValue]
        )
        var responses: [CachedResponse] = []
        while let row = try rows.next() {
            if var response = try response(from: row, upstream: upstream, method: method, url: url) {
                if let length: Int = try row.value(15) { try addParts(to: &response, completeLength: length, in: db) }
                responses.append(response)
            } else {
                let id: Int64 = try row.value(0)
                database.logger.warning(
                    "a stored response cannot be decoded and is not used",
                    metadata: ["id": "\(id)"]
                )
            }
        }
        // Not sorted by SQLite, whose sorter would copy the bodies.
        responses.sort { ($0.head.responseTime, $0.id ?? 0) > ($1.head.responseTime, $1.id ?? 0) }
        return responses
    }

    static let selectByKey = """
        SELECT r.id, r.credential, r.varying, r.status, r.reason, r.header, r.request_time, r.response_time,
            r.last_used, r.invalidated, r.blob_id, blob.length, body.bytes, r.pinned, r.content_time,
            r.complete_length
        FROM stored_response AS r
        LEFT JOIN blob ON blob.id = r.blob_id
        LEFT JOIN stored_body AS body ON body.response_id = r.id
        WHERE r.upstream = ? AND r.url = ? AND r.method = ? AND r.credential IN (?, ?)
        """

    /// Returns the response of a row; nil if the row was not written by ``save(_:in:)``. Only final statuses are stored
    /// (RFC 9110 §15.2), and `HTTPResponse.Status` traps on others.
    private func response(
        from row: Row,
        upstream: String,
        method: HTTPRequest.Method,
        url: String
    ) throws -> CachedResponse? {
        let status: Int = try row.value(3)
        guard let varying = try FieldCoding.decode(row.value(2)), let header = try FieldCoding.decode(row.value(5)),
            200...999 ~= status
        else { return nil }
        let blob: BlobID? = try row.value(10)
        let body: StoredBody =
            try blob.map { .blob(Blob(id: $0, length: try row.value(11) ?? 0)) } ?? .bytes(row.value(12) ?? Data())
        return try CachedResponse(
            id: row.value(0),
            upstream: upstream,
            credential: CredentialHash?(columnValue: row.value(1)),
            head: CachedResponseHead(
                method: method,
                url: url,
                varyingFields: varying,
                status: HTTPResponse.Status(code: status, reasonPhrase: row.value(4)),
                headerFields: header,
                requestTime: row.date(6),
                responseTime: row.date(7)
            ),
            body: body,
            contentTime: row.date(14),
            lastUsed: row.date(8),
            isInvalidated: row.value(9),
            isPinned: row.value(13)
        )
    }
}

// Bodies that an app stores under names of its own, such as the path of a file, are renamed and deleted with it.
extension ResponseStore {
    /// Removes the responses of a credential and an upstream whose names begin with `prefix`.
    package func remove(upstream: String, urlPrefix prefix: String, credential: CredentialHash, in db: Database) throws
    {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.deleteByPrefix).execute(arguments: [upstream, prefix, end, credential.bytes])
    }

    /// Replaces `prefix` by `newPrefix` in the names of the responses of a credential and an upstream; those under the
    /// new names are removed before. Runs two statements for any number of names.
    package func move(
        upstream: String,
        urlPrefix prefix: String,
        to newPrefix: String,
        credential: CredentialHash,
        in db: Database
    ) throws {
        guard let end = KeyPrefix(prefix).end, prefix != newPrefix else { return }
        try remove(upstream: upstream, urlPrefix: newPrefix, credential: credential, in: db)
        try db.cachedStatement(sql: Self.moveByPrefix)
            .execute(arguments: [newPrefix, prefix.unicodeScalars.count + 1, upstream, prefix, end, credential.bytes])
    }

    /// Invalidates everything that was fetched with a credential (RFC 9111 §4.4), as after a write.
    package func invalidate(credential: CredentialHash, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidationByCredential).execute(arguments: [credential.bytes])
    }

    static let deleteByPrefix =
        "DELETE FROM stored_response WHERE upstream = ? AND url >= ? AND url < ? AND credential = ?"
    static let moveByPrefix = """
        UPDATE stored_response SET url = ? || substr(url, ?)
        WHERE upstream = ? AND url >= ? AND url < ? AND credential = ?
        """
    static let invalidationByCredential =
        "UPDATE stored_response SET invalidated = 1 WHERE credential = ? AND credential <> x'' AND invalidated = 0"

    /// Returns the entity tags of stored responses to GET by their URLs, in one query. A URL without a stored response
    /// or without an entity tag is left out.
    ///
    /// - Parameters:
    ///   - credential: The credential that they were fetched with.
    package func entityTags(
        upstream: String,
        urls: [String],
        credential: CredentialHash,
        in db: Database
    ) throws -> [String: String] {
        guard !urls.isEmpty else { return [:] }
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: Self.selectHeaders),
            arguments: [upstream, credential.bytes, urls.jsonArray]
        )
        var tags: [String: String] = [:]
        while let row = try rows.next() {
            tags[try row.value(0)] = try FieldCoding.decode(row.value(1))?[.eTag]
        }
        return tags
    }

    // The newest variant of a URL is last: it replaces the others in the dictionary.
    static let selectHeaders = """
        SELECT url, header FROM stored_response
        WHERE upstream = ? AND method = 'GET' AND credential = ? AND url IN (SELECT value FROM json_each(?))
        ORDER BY response_time
        """

    /// Returns the metadata of the newest response that is stored under a URL and method for exactly this credential;
    /// nil if there is none. Neither head nor body is read.
    package func metadata(
        upstream: String,
        method: HTTPRequest.Method,
        url: String,
        credential: CredentialHash?,
        in db: Database
    ) throws -> StoredResponseMetadata? {
        try Row.fetchOne(
            db.cachedStatement(sql: Self.selectMetadata),
            arguments: [upstream, url, method.rawValue, credential.columnValue]
        ).map { row in
            try StoredResponseMetadata(
                id: row.value(0),
                responseTime: row.date(1),
                contentTime: row.date(2),
                lastUsed: row.date(3),
                isInvalidated: row.value(4)
            )
        }
    }

    static let selectMetadata = """
        SELECT id, response_time, content_time, last_used, invalidated FROM stored_response
        WHERE upstream = ? AND url = ? AND method = ? AND credential = ?
        ORDER BY response_time DESC, id DESC LIMIT 1
        """
}

/// A stored response without its head and body: enough to say whether rows that an app made of it may
/// be served, and how old they are.
package struct StoredResponseMetadata: Sendable, Equatable {
    /// Identity; nil for a response that is not stored.
    package var id: CachedResponse.ID?
    /// When it was received or last validated.
    package var responseTime: Date
    /// When its content was received.
    package var contentTime: Date
    /// When it last served a request.
    package var lastUsed: Date
    /// Whether it must be validated before it is used as fresh.
    package var isInvalidated: Bool

    /// Returns how long the response has been stored, in seconds, as `HTTPCaching/CachedResponseHead` does.
    package func residentTime(at now: Date) -> Double { abs(now.timeIntervalSince(responseTime)) }
}

extension CachedResponse {
    /// The response without its head and body.
    package var metadata: StoredResponseMetadata {
        StoredResponseMetadata(
            id: id,
            responseTime: head.responseTime,
            contentTime: contentTime,
            lastUsed: lastUsed,
            isInvalidated: isInvalidated
        )
    }
}

extension ResponseStore {
    /// The stored responses of an upstream.
    package struct Total: Sendable, Equatable {
        package var upstream: String
        package var responses: Int
        /// Bytes of bodies, header fields and keys, blobs included, without the overhead of the database.
        package var bytes: Int
    }

    /// Returns the total of each upstream, by name. The cost grows with the number of upstreams only.
    package static func totals(in db: Database) throws -> [Total] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT upstream, responses, bytes FROM stored_response_total ORDER BY upstream")
        )
        .map { try Total(upstream: $0.value(0), responses: $0.value(1), bytes: $0.value(2)) }
    }

    /// Returns the total of each upstream, in a read of its own.
    package func totals() throws -> [Total] {
        try database.read { try Self.totals(in: $0) }
    }

    /// Returns the bytes of everything that is cached, and the total of each upstream.
    package func usage() throws -> (bytes: Int, upstreams: [Total]) {
        try database.read { (try CacheEviction.total(in: $0), try Self.totals(in: $0)) }
    }
}
