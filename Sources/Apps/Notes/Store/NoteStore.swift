import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage

/// Accounts, their notes with places, and the people of the web service.
///
/// A note and its place are one row. Its entries in the full-text index, in the R-tree and in the clusters of every
/// zoom change in the transaction that changes it.
struct NoteStore: Sendable {
    /// Name of the app in sessions.
    static let app = "notes"

    let users: UserDatabase
    /// Counts the changes of each account's notes.
    let noteChanges = VersionCounters()
    /// Counts how often the people were fetched or replaced.
    let peopleChanges = VersionCounter()

    init(_ users: UserDatabase) {
        self.users = users
        users.onChange(of: "notes_account") { [noteChanges] keys in
            for account in keys.compactMap({ $0.first.flatMap(Int64.fromDatabaseValue) }) {
                noteChanges[account].bump()
            }
        }
        users.onChange(of: "notes_people") { [peopleChanges] _ in peopleChanges.bump() }
    }

    /// The notes of an account, which have one counter of revisions.
    static func scope(_ account: Int64) -> String { "notes/\(account)" }

    /// The lock of the names of accounts. Every transaction that adds or removes one has it, so ids of accounts are
    /// SQLite's.
    static let names = "notes/names"

    /// Brings the rows up to date, before those of a request are read.
    ///
    /// - Returns: the notification that they may be out of date; nil if they are not.
    func catchUp() async throws -> Banner? { try await users.catchUp()?.banner }

    /// Returns a token that becomes invalid when the notes of an account change. Take it before ``catchUp()``.
    func changeToken(account: Int64) -> ChangeToken {
        let topic = ServerEvent.Audience.account(app: Self.app, account: "\(account)").topic
        return ChangeToken(of: noteChanges[account]).and(users.changeToken(of: topic))
    }

    /// Returns the token of the people; to be taken before ``catchUp()``.
    var peopleToken: ChangeToken {
        ChangeToken(of: peopleChanges).and(users.changeToken(of: ServerEvent.Audience.app(Self.app).topic))
    }

    func note(_ id: Int64, account: Int64) throws -> Note? {
        try users.read { try Self.note(id, account: account, $0) }
    }

    static func note(_ id: Int64, account: Int64, _ db: Database) throws -> Note? {
        try Note.fetchOne(db.cachedStatement(sql: selectNote), arguments: ["id": id, "account": account])
    }

    static let selectNote = "SELECT * FROM note WHERE id = :id AND account = :account"

    /// Inserts a note.
    ///
    /// - Parameters:
    ///   - preconditions: compared with the version of the account's list.
    ///   - quota: the most bytes that the account may store.
    /// - Throws: ``Problem`` 401 if the account was deleted, 412, 507.
    func add(
        _ body: String,
        at location: Note.Location,
        preconditions: WritePreconditions = .none,
        quota: StorageQuota = .unlimited,
        account: Int64,
        now: Date
    ) async throws -> Note {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account)) { [users] db in
            try preconditions.check(version: try Self.revision(account, db), of: "The list of notes")
            return try quota.holding({ try Self.usage(account, db) }) {
                let id = try Self.unusedID(users, db)
                return try Self.insert(body, at: location, id: id, account: account, now: now, db)
            }
        }
    }

    /// Returns the id of a new note; nil for the next one of SQLite.
    static func unusedID(_ users: UserDatabase, _ db: Database) throws -> Int64? {
        var id = try users.rowID(for: "note")
        // A note of this id may be in the trash of a file that was copied.
        while let taken = id, try isInTrash(taken, db) { id = try users.rowID(for: "note") }
        return id
    }

    /// - Parameter id: nil for the next one of SQLite.
    static func insert(
        _ body: String,
        at location: Note.Location,
        id: Int64? = nil,
        account: Int64,
        now: Date,
        created: Date? = nil,
        _ db: Database
    ) throws -> Note {
        let revision = try nextRevision(account, db)
        try db.cachedStatement(sql: insert).execute(
            arguments: [
                "id": id, "account": account, "body": body, "opening": NoteOutline.opening(of: body),
                "created": (created ?? now).millisecondsSince1970, "modified": now.millisecondsSince1970,
                "revision": revision,
            ].merging(columns(location)) { own, _ in own }.arguments
        )
        let note = Note(
            id: db.lastInsertedRowID,
            body: body,
            location: location,
            modified: now,
            created: created ?? now,
            revision: revision
        )
        try index(note, account: account, db)
        return note
    }

    /// Changes a note; arguments that are nil change nothing. The time of modification changes in any case.
    ///
    /// - Parameters:
    ///   - preconditions: compared with the note's version.
    ///   - quota: the most bytes that the account may store.
    /// - Returns: the note; nil if the account has none of that id.
    /// - Throws: 412 `precondition-failed`; 507 `quota-exceeded`.
    func change(
        _ id: Int64,
        body: String?,
        location: Note.Location?,
        preconditions: WritePreconditions = .none,
        quota: StorageQuota = .unlimited,
        account: Int64,
        now: Date
    ) async throws -> Note? {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account)) { db in
            guard let old = try Self.note(id, account: account, db) else { return nil }
            try preconditions.check(version: old.revision, of: "The note \(Note.identity(id))")
            let note = Note(
                id: id,
                body: body ?? old.body,
                location: location ?? old.location,
                modified: now,
                created: old.created,
                revision: try Self.nextRevision(account, db)
            )
            try quota.holding({ try Self.usage(account, db) }) {
                try Self.update(old, to: note, account: account, db)
            }
            return note
        }
    }

    private static func update(_ old: Note, to note: Note, account: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: update).execute(
            arguments: [
                "id": note.id, "body": note.body, "opening": NoteOutline.opening(of: note.body),
                "modified": note.modified.millisecondsSince1970, "revision": note.revision,
            ].merging(columns(note.location)) { own, _ in own }.arguments
        )
        try change(old, to: note, account: account, db)
    }

    /// Deletes a note with its place.
    ///
    /// - Parameters:
    ///   - now: when it is moved to the trash; nil to delete it permanently.
    ///   - preconditions: compared with the note's version.
    /// - Returns: the account's revision; nil if it had no note of that id.
    /// - Throws: 412 `precondition-failed`.
    func delete(
        _ id: Int64,
        toTrashAt now: Date? = nil,
        preconditions: WritePreconditions = .none,
        account: Int64
    ) async throws -> Int? {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account), deleting: now == nil ? .permanent : .toTrash) { db in
            guard let old = try Self.note(id, account: account, db) else { return nil }
            try preconditions.check(version: old.revision, of: "The note \(Note.identity(id))")
            let revision = try Self.nextRevision(account, db)
            try Self.remove(old, account: account, db)
            if let now { try Self.moveToTrash(id, deletion: revision, at: now, db) }
            try db.cachedStatement(sql: "DELETE FROM note WHERE id = ?").execute(arguments: [id])
            return revision
        }
    }

    /// Returns the number of the last change of an account's notes.
    static func revision(_ account: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT revision FROM notes_account WHERE id = ?"),
            arguments: [account]
        ) ?? 0
    }

    static func nextRevision(_ account: Int64, _ db: Database) throws -> Int {
        let statement = try db.cachedStatement(
            sql: "UPDATE notes_account SET revision = revision + 1 WHERE id = ? RETURNING revision"
        )
        guard let revision = try Int.fetchAll(statement, arguments: [account]).first else {
            throw Problem.accountDeleted
        }
        return revision
    }

    private static func columns(_ location: Note.Location) -> [String: (any DatabaseValueConvertible)?] {
        let cell = MapGrid.cell(of: location.coordinate, zoom: MapGrid.deepest)
        return [
            "latitude": location.coordinate.latitude, "longitude": location.coordinate.longitude,
            "location_name": location.name, "cell_x": cell.x,
            "cell_y": cell.y,
        ]
    }

    static let insert = """
        INSERT INTO note
            (id, account, body, opening, latitude, longitude, location_name, cell_x, cell_y, created, modified,
            revision)
        VALUES
            (:id, :account, :body, :opening, :latitude, :longitude, :location_name, :cell_x, :cell_y, :created,
            :modified, :revision)
        """
    private static let update = """
        UPDATE note SET
            body = :body, opening = :opening, latitude = :latitude, longitude = :longitude,
            location_name = :location_name, cell_x = :cell_x, cell_y = :cell_y, modified = :modified,
            revision = :revision
        WHERE id = :id
        """
}

extension [String: (any DatabaseValueConvertible)?] {
    fileprivate var arguments: StatementArguments { StatementArguments(self) }
}

extension Note: FetchableRecord {
    /// Reads a row of table `note`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            body: row.value("body"),
            location: Location(row: row),
            modified: row.date("modified"),
            created: row.date("created"),
            revision: row.size("revision")
        )
    }
}

extension NoteOutline: FetchableRecord {
    /// Reads the columns of a row of table `note` that ``columns`` names.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            opening: row.value("opening"),
            location: Note.Location(row: row),
            modified: row.date("modified"),
            revision: row.size("revision")
        )
    }

    static let columns =
        "note.id, note.opening, note.latitude, note.longitude, note.location_name, note.modified, note.revision"
}

extension Note.Location {
    fileprivate init(row: Row) throws {
        let latitude: Double = try row.value("latitude")
        let coordinate = try row.value("longitude") { Coordinate(latitude: latitude, longitude: $0) }
        self.init(coordinate: coordinate, name: try row.value("location_name"))
    }
}
