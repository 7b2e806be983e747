public import Database
import Foundation
public import GRDB
import HTTPCaching
public import HTTPTypes
import Logging

/// Stores the responses of all upstreams: the database of an HTTP cache. It does not decide what may be stored or used.
///
/// Key: upstream, method, URL, credential, and the request fields that `Vary` nominates. Functions that take a
/// `Database` run in its transaction, so that an app can change its rows with them.
public struct ResponseStore: Sendable {
    let database: LarderDatabase
    /// The most variants of one URL, method and credential, so that `Vary: Cookie` does not fill the disk; the oldest
    /// are removed first.
    let maximumVariants: Int

    /// Creates a store.
    public init(_ database: LarderDatabase, maximumVariants: Int = 32) {
        self.database = database
        self.maximumVariants = max(1, maximumVariants)
    }

    /// Returns the variants stored under a URL and method that a credential may see, its own and the shared ones,
    /// newest first. Blocks, but never for a writer.
    ///
    /// - Parameter credential: Nil: shared ones only.
    /// - Throws: `StorageError`.
    public func responses(
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
    public func responses(
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
