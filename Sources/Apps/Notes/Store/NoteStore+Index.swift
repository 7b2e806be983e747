import GRDB

/// The full-text index and the R-tree of notes. Both are virtual tables, which triggers may not write: the schema is
/// not trusted (`PRAGMA trusted_schema = OFF`), so that a manipulated file cannot run them. Every write of a note
/// calls these functions in its transaction.
extension NoteStore {
    /// Adds a note that was inserted.
    static func index(_ note: Note, account: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: insertText).execute(arguments: [note.id, account, note.body, note.location.name])
        let (latitude, longitude) = (note.location.coordinate.latitude, note.location.coordinate.longitude)
        try db.cachedStatement(sql: "INSERT INTO note_position VALUES (?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [note.id, longitude, longitude, latitude, latitude, account, Double(account) + 0.5])
    }

    /// Removes a note that is deleted.
    ///
    /// - Parameter note: the note as it was added: the index has no copy of the text.
    static func remove(_ note: Note, account: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: deleteText).execute(arguments: [note.id, account, note.body, note.location.name])
        try db.cachedStatement(sql: "DELETE FROM note_position WHERE id = ?").execute(arguments: [note.id])
    }

    /// Updates a note that was changed.
    static func change(_ old: Note, to new: Note, account: Int64, _ db: Database) throws {
        if old.body != new.body || old.location.name != new.location.name {
            try db.cachedStatement(sql: deleteText).execute(arguments: [old.id, account, old.body, old.location.name])
            try db.cachedStatement(sql: insertText).execute(arguments: [new.id, account, new.body, new.location.name])
        }
        let point = new.location.coordinate
        guard old.location.coordinate != point else { return }
        try db.cachedStatement(sql: "UPDATE note_position SET west = ?, east = ?, south = ?, north = ? WHERE id = ?")
            .execute(arguments: [point.longitude, point.longitude, point.latitude, point.latitude, new.id])
    }

    private static let insertText = "INSERT INTO note_text (rowid, account, body, location_name) VALUES (?, ?, ?, ?)"
    // FTS5, "External Content Tables": a row is deleted by its former values.
    private static let deleteText =
        "INSERT INTO note_text (note_text, rowid, account, body, location_name) VALUES ('delete', ?, ?, ?, ?)"
}
