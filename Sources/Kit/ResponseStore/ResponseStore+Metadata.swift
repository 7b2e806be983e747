import Database
import Foundation
public import GRDB
public import HTTPTypes

extension ResponseStore {
    /// Returns what is known of the newest response that is stored under a URL and method for exactly this credential;
    /// nil if there is none. Neither head nor body is read.
    ///
    /// - Throws: Errors of the database.
    public func metadata(
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
