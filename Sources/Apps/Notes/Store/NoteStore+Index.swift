import Cluster
import GRDB
import Storage

/// The search index and the R-tree of notes. Both are virtual tables, which triggers may not write: the schema is
/// not trusted (`PRAGMA trusted_schema = OFF`), so that a manipulated file cannot run them. Every write of a note
/// calls these functions in its transaction.
extension NoteStore {
    /// The terms of the notes. A note is entered under its rank, so that the last saved is read first.
    static let terms = SearchIndex("note_term")
    /// The words of the notes, by account.
    static let vocabulary = SearchVocabulary("note_word")

    /// The bits of a rank that are the revision.
    static let revisionBits: Int64 = 36

    /// Returns the rank of a note: its account and its revision.
    static func rank(_ account: Int64, _ revision: Int) -> Int64 { account << revisionBits | Int64(revision) }

    /// Returns the revision that a rank names.
    static func revision(ofRank rank: Int64) -> Int { Int(rank & (1 << revisionBits - 1)) }

    /// Adds a note that was inserted.
    static func index(_ note: Note, account: Int64, _ db: Database) throws {
        try indexText(note, account: account, db)
        try vocabulary.change([], to: NoteTerms.words(of: note), of: account, db)
        try indexPosition(note, account: account, db)
    }

    static func indexPosition(_ note: Note, account: Int64, _ db: Database) throws {
        let (latitude, longitude) = (note.location.coordinate.latitude, note.location.coordinate.longitude)
        try db.cachedStatement(sql: "INSERT INTO note_position VALUES (?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [note.id, longitude, longitude, latitude, latitude, account, Double(account) + 0.5])
    }

    /// Removes a note that is deleted.
    ///
    /// - Parameter note: the note with the text that was indexed: the index has no copy of it.
    static func remove(_ note: Note, account: Int64, _ db: Database) throws {
        try removeText(note, account: account, db)
        try vocabulary.change(NoteTerms.words(of: note), to: [], of: account, db)
        try db.cachedStatement(sql: "DELETE FROM note_position WHERE id = ?").execute(arguments: [note.id])
    }

    /// Updates a note that was changed. Its revision has changed in any case.
    static func change(_ old: Note, to new: Note, account: Int64, _ db: Database) throws {
        try removeText(old, account: account, db)
        try indexText(new, account: account, db)
        try vocabulary.change(NoteTerms.words(of: old), to: NoteTerms.words(of: new), of: account, db)
        let point = new.location.coordinate
        guard old.location.coordinate != point else { return }
        try db.cachedStatement(sql: "UPDATE note_position SET west = ?, east = ?, south = ?, north = ? WHERE id = ?")
            .execute(arguments: [point.longitude, point.longitude, point.latitude, point.latitude, new.id])
    }

    static func removeTexts(of account: Int64, _ db: Database) throws {
        try vocabulary.deleteAll(of: account, db)
        if try Bool.fetchOne(db, sql: hasOthers, arguments: ["account": account]) == false {
            try terms.deleteAll(db)
            try db.execute(sql: "DELETE FROM note_passage")
        } else {
            try forEachNote(of: account, db) { try removeText($0, account: account, db) }
        }
    }

    private static let hasOthers = """
        SELECT EXISTS (SELECT 1 FROM note WHERE account < :account)
            OR EXISTS (SELECT 1 FROM note WHERE account > :account)
        """

    /// Enters the texts of all notes into an empty index.
    static func indexTexts(_ db: Database) throws {
        try forEachNote(db) { try indexText($0, account: $1, db) }
        try terms.optimize(db)
    }

    /// Enters the words of all notes.
    static func enterWords(_ db: Database) throws {
        try db.execute(sql: vocabulary.creation)
        try forEachNote(db) { try vocabulary.change([], to: NoteTerms.words(of: $0), of: $1, db) }
    }

    /// Enters the passages of notes with words that are longer than a term: they were not among them.
    static func enterPassages(_ db: Database) throws {
        let replace = "INSERT OR REPLACE INTO note_passage (rank, text) VALUES (?, ?)"
        try forEachNote(db) { note, account in
            let hasLongWord = (note.body + "\n" + note.location.name).split(whereSeparator: \.isWhitespace)
                .contains { $0.unicodeScalars.count > SearchTerms.longestPrefix }
            guard hasLongWord else { return }
            let passages = NoteTerms(note).passages
            guard !passages.isEmpty else { return }
            try db.cachedStatement(sql: replace).execute(arguments: [rank(account, note.revision), passages])
        }
    }

    private static func forEachNote(_ db: Database, _ body: (Note, _ account: Int64) throws -> Void) throws {
        for account in try Int64.fetchAll(db, sql: "SELECT id FROM notes_account ORDER BY id") {
            try forEachNote(of: account, db) { try body($0, account) }
        }
    }

    /// Calls a function with each note of an account, the last saved last. Only one is in memory at a time.
    func forEachNote(of account: Int64, _ body: (Note) throws -> Void) throws {
        try users.read { try Self.forEachNote(of: account, $0, body) }
    }

    /// In ascending order of their ranks.
    static func forEachNote(of account: Int64, _ db: Database, _ body: (Note) throws -> Void) throws {
        let sql = "SELECT * FROM note WHERE account = ? ORDER BY revision"
        try Note.fetchCursor(db, sql: sql, arguments: [account]).forEach(body)
    }

    private static func indexText(_ note: Note, account: Int64, _ db: Database) throws {
        let (found, rank) = (NoteTerms(note), rank(account, note.revision))
        try terms.insert(found.terms, of: account, at: rank, db)
        guard !found.passages.isEmpty else { return }
        try db.cachedStatement(sql: "INSERT INTO note_passage (rank, text) VALUES (?, ?)")
            .execute(arguments: [rank, found.passages])
    }

    private static func removeText(_ note: Note, account: Int64, _ db: Database) throws {
        let rank = rank(account, note.revision)
        try terms.delete(NoteTerms(note).terms, of: account, at: rank, db)
        try db.cachedStatement(sql: "DELETE FROM note_passage WHERE rank = ?").execute(arguments: [rank])
    }
}

/// The rows of several servers. The indexes and the clusters follow from the notes on each of them.
extension NoteStore {
    static let replicated = JournalTables(
        replicated: ["notes_account", "note", "note_trash", "notes_people", "notes_person", "notes_attempt"],
        local: ["note_cell", "note_passage", "note_word"],
        virtual: ["note_term", "note_position"],
        derivations: ["note": derive, "note_trash": keepID]
    )

    /// Keeps SQLite from giving the id of a note in the trash again, if this file never had the note in its list.
    @Sendable private static func keepID(_ db: Database, _ update: JournalTables.RowUpdate) throws {
        guard let id: Int64 = try update.after?.value("id") else { return }
        let raise = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'note'"
        try db.cachedStatement(sql: raise).execute(arguments: [id])
        guard db.changesCount == 0 else { return }
        try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('note', ?)", arguments: [id])
    }

    /// Updates the indexes and clusters for a row that the journal changes, as a write of a note and its triggers do.
    @Sendable private static func derive(_ db: Database, _ update: JournalTables.RowUpdate) throws {
        let rows = (update.before, update.after)
        guard let row = rows.0 ?? rows.1 else { return }
        let account: Int64 = try row.value("account")
        switch try (rows.0.map(Note.init(row:)), rows.1.map(Note.init(row:))) {
        case (let old?, let new?): try change(old, to: new, account: account, db)
        case (let old?, nil): try remove(old, account: account, db)
        case (nil, let new?): try index(new, account: account, db)
        case (nil, nil): break
        }
        guard try location(rows.0) != location(rows.1) else { return }
        if let old = rows.0 { try cluster(cellsWithout(":"), old, db) }
        if let new = rows.1 { try cluster([cellsWith(":")], new, db) }
    }

    private static func location(_ row: Row?) throws -> Note.Location? { try row.map { try Note(row: $0).location } }

    private static func cluster(_ statements: [String], _ row: Row, _ db: Database) throws {
        for sql in statements {
            let statement = try db.cachedStatement(sql: sql)
            var arguments: [String: DatabaseValue] = [:]
            for name in ["id", "account", "cell_x", "cell_y", "latitude", "longitude"] where sql.contains(":\(name)") {
                let value: DatabaseValue = try row.value(name)
                arguments[name] = value
            }
            try statement.execute(arguments: StatementArguments(arguments))
        }
    }
}
