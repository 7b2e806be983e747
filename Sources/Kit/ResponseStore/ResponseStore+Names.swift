import Database
public import GRDB

// Bodies that an app keeps under names of its own, such as the path of a file, follow when what they are named after is
// renamed or deleted.
extension ResponseStore {
    /// Removes what a credential has stored of an upstream under names that begin with `prefix`.
    public func remove(upstream: String, urlPrefix prefix: String, credential: CredentialHash, in db: Database) throws {
        guard let end = KeyPrefix(prefix).end else { return }
        try db.cachedStatement(sql: Self.deleteByPrefix).execute(arguments: [upstream, prefix, end, credential.bytes])
    }

    /// Puts `newPrefix` in place of `prefix` in the names of what a credential has stored of an upstream; what was
    /// stored under the new names goes. Two statements, however many names.
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

    /// Marks everything that was fetched with this credential as in need of validation (RFC 9111 §4.4), as when a write
    /// has changed what it may say.
    public func invalidate(credential: CredentialHash, in db: Database) throws {
        try db.cachedStatement(sql: Self.invalidationByCredential).execute(arguments: [credential.bytes])
    }

    static let deleteByPrefix =
        "DELETE FROM stored_response WHERE upstream = ? AND url >= ? AND url < ? AND credential = ?"
    static let moveByPrefix = """
        UPDATE stored_response SET url = ? || substr(url, ?) WHERE upstream = ? AND url >= ? AND url < ? AND credential = ?
        """
    static let invalidationByCredential =
        "UPDATE stored_response SET invalidated = 1 WHERE credential = ? AND credential <> x'' AND invalidated = 0"
}
