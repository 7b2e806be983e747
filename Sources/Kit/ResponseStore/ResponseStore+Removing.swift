import Database
public import Foundation
public import GRDB

extension ResponseStore {
    /// Invalidates everything stored under a URL, of all methods, credentials and variants (RFC 9111 §4.4): it must be
    /// validated before it is used as fresh.
    ///
    /// It stays stored, because it is served while the upstream is unreachable.
    ///
    /// - Throws: Errors of the database.
    public func invalidate(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidation).execute(arguments: [upstream, url])
    }

    /// Invalidates one stored response.
    ///
    /// - Throws: Errors of the database.
    public func invalidate(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidationByID).execute(arguments: [id])
    }

    /// Removes one stored response and its blob.
    ///
    /// - Throws: Errors of the database.
    public func remove(_ id: CachedResponse.ID, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByID).execute(arguments: [id])
    }

    /// Removes everything stored under a URL, of all methods, credentials and variants.
    ///
    /// - Throws: Errors of the database.
    public func remove(upstream: String, url: String, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByURL).execute(arguments: [upstream, url])
    }

    /// Removes everything that was fetched with a credential, from all upstreams, as at a logout.
    ///
    /// - Throws: Errors of the database.
    public func remove(credential: CredentialHash, in db: Database) throws {
        try db.cachedStatement(sql: Self.deleteByCredential).execute(arguments: [credential.bytes])
    }

    /// Removes the responses of an upstream whose URL begins with `urlPrefix` and that were received before `received`.
    /// Pinned ones stay.
    ///
    /// - Returns: The number of removed responses.
    /// - Throws: Errors of the database.
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
