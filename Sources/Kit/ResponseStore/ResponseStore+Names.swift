import Database
public import GRDB

// Bodies that an app stores under names of its own, such as the path of a file, are renamed and deleted with it.
extension ResponseStore {
    /// Removes the responses of a credential and an upstream whose names begin with `prefix`.
    ///
    /// - Throws: Errors of the database.
    public func remove(upstream: String, urlPrefix prefix: String, credential: CredentialHash, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.deleteByPrefix).execute(arguments: [upstream, prefix, end, credential.bytes])
    }

    /// Replaces `prefix` by `newPrefix` in the names of the responses of a credential and an upstream; those under the
    /// new names are removed before. Runs two statements for any number of names.
    ///
    /// - Throws: Errors of the database.
    public func move(
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
    ///
    /// - Throws: Errors of the database.
    public func invalidate(credential: CredentialHash, in db: Database) throws {
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
}
