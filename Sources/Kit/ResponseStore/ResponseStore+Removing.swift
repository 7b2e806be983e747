import Database
public import Foundation
public import GRDB

extension ResponseStore {
    /// Marks everything stored under this URL, of all methods, credentials and variants, as in need of validation (RFC
    /// 9111 §4.4).
    ///
    /// It is kept: with the upstream down, the last good answer may still be wanted.
    public func invalidate(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidation).execute(arguments: [upstream, url])
    }

    /// The same of one stored response.
    public func invalidate(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidationByID).execute(arguments: [id])
    }

    /// Removes one stored response, and its blob.
    public func remove(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByID).execute(arguments: [id])
    }

    /// Removes everything stored under this URL, of all methods, credentials and variants.
    public func remove(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByURL).execute(arguments: [upstream, url])
    }

    /// Removes everything that was fetched with this credential, from all upstreams: what a logout does.
    public func remove(credential: CredentialHash, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByCredential).execute(arguments: [credential.bytes])
    }

    /// Removes an upstream's responses: all, or those whose URL begins with `urlPrefix`, and of these those received
    /// before `received`. Pinned ones stay.
    ///
    /// - Returns: How many.
    @discardableResult
    public func purge(
        upstream: String,
        urlPrefix: String = "",
        receivedBefore received: Date = .distantFuture,
        in db: Database
    ) throws -> Int {
        let before = received.millisecondsSince1970
        if let end = KeyPrefix(urlPrefix).end {
            try db.execute(sql: Self.purgePrefix, arguments: [upstream, urlPrefix, end, before])
        } else {
            try db.execute(sql: Self.purgeAll, arguments: [upstream, before])
        }
        return db.changesCount
    }

    static let invalidation = "UPDATE stored_response SET invalidated = 1 WHERE upstream = ? AND url = ?"
    static let invalidationByID = "UPDATE stored_response SET invalidated = 1 WHERE id = ?"
    static let deleteByID = "DELETE FROM stored_response WHERE id = ?"
    static let deleteByURL = "DELETE FROM stored_response WHERE upstream = ? AND url = ?"
    static let deleteByCredential = "DELETE FROM stored_response WHERE credential = ? AND credential <> x''"
    static let purgePrefix =
        "DELETE FROM stored_response WHERE upstream = ? AND url >= ? AND url < ? AND response_time < ? AND pinned = 0"
    static let purgeAll = "DELETE FROM stored_response WHERE upstream = ? AND response_time < ? AND pinned = 0"
}
