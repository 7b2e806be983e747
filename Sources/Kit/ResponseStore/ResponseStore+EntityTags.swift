import Database
public import GRDB
import HTTPTypes

extension ResponseStore {
    /// Returns the entity tags of stored responses to GET by their URLs, in one query. A URL without a stored response
    /// or without an entity tag is left out.
    ///
    /// - Parameters:
    ///   - upstream: Name of the upstream.
    ///   - urls: The URLs.
    ///   - credential: The credential that they were fetched with.
    ///   - db: The transaction.
    /// - Throws: GRDB's errors.
    public func entityTags(
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

    // The newest variant of a URL comes last.
    static let selectHeaders = """
        SELECT url, header FROM stored_response
        WHERE upstream = ? AND method = 'GET' AND credential = ? AND url IN (SELECT value FROM json_each(?))
        ORDER BY response_time
        """
}
