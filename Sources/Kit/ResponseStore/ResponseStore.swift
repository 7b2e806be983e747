public import Database
import Foundation
public import GRDB
import HTTPCaching
public import HTTPTypes

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
    /// - Throws: ``StorageError``.
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
    /// - Throws: ``StorageError``; errors of the database.
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
            responses.append(try response(from: row, upstream: upstream, method: method, url: url))
        }
        return responses
    }

    static let selectByKey = """
        SELECT r.id, r.credential, r.varying, r.status, r.reason, r.header, r.request_time, r.response_time,
            r.last_used, r.invalidated, r.blob_id, blob.length, body.bytes, r.pinned, r.content_time
        FROM stored_response AS r
        LEFT JOIN blob ON blob.id = r.blob_id
        LEFT JOIN stored_body AS body ON body.response_id = r.id
        WHERE r.upstream = ? AND r.url = ? AND r.method = ? AND r.credential IN (?, ?)
        ORDER BY r.response_time DESC, r.id DESC
        """

    private func response(from row: Row, upstream: String, method: HTTPRequest.Method, url: String) throws
        -> CachedResponse
    {
        guard let varying = FieldCoding.decode(row[2]), let header = FieldCoding.decode(row[5]),
            0...999 ~= row[3] as Int
        else {
            throw StorageError.damagedDatabase(
                path: database.directory.databasePath,
                detail: "stored response \(row[0] as Int64) cannot be decoded"
            )
        }
        let body: StoredBody
        if let id = row[10] as BlobID? {
            body = .blob(Blob(id: id, length: row[11] ?? 0))
        } else {
            body = .bytes(row[12] ?? Data())
        }
        return CachedResponse(
            id: row[0],
            upstream: upstream,
            credential: CredentialHash?(columnValue: row[1]),
            head: CachedResponseHead(
                method: method,
                url: url,
                varyingFields: varying,
                status: HTTPResponse.Status(code: row[3], reasonPhrase: row[4]),
                headerFields: header,
                requestTime: Date(millisecondsSince1970: row[6]),
                responseTime: Date(millisecondsSince1970: row[7])
            ),
            body: body,
            contentTime: Date(millisecondsSince1970: row[14]),
            lastUsed: Date(millisecondsSince1970: row[8]),
            isInvalidated: row[9],
            isPinned: row[13]
        )
    }
}
