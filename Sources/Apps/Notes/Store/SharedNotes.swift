import AppInterface
import Database
import Foundation
import Freshness
import Screens
import SharedStore

/// What users have made in the Notes app, in a store that several servers share.
///
/// Each change of an account's notes has the turn of the account: what it reads is what it changes.
struct SharedNotes: NoteBook {
    let database: SharedDatabase
    let changes: SharedChanges

    init(_ access: SharedStoreAccess) { (database, changes) = (access.database, access.changes) }

    func changeToken(account: Int64) -> ChangeToken { changes.token(of: Self.topic(account)) }

    func loginLimits(_ limits: LoginAttempts.Limits) -> any LoginLimits {
        SharedLoginLimits(database: database, limits: limits)
    }

    private static func topic(_ account: Int64) -> String {
        ServerEvent.Audience.account(app: NoteStore.app, account: "\(account)").topic
    }

    /// Changes the notes of an account, one change after the other.
    func write<Value: Sendable>(
        of account: Int64,
        _ updates: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        // Others learn of it by the event that is published next.
        defer { changes.changed(Self.topic(account)) }
        return try await database.write(turns: ["notes/\(account)"], updates)
    }

    func note(_ id: Int64, account: Int64) async throws -> Note? {
        try await database.rows(Self.selectNote, [id, account]) { try Note($0) }.first ?? nil
    }

    static func note(_ id: Int64, account: Int64, _ transaction: SQLTransaction) throws -> Note? {
        try transaction.rows(selectNote, [id, account]).first.flatMap { try Note($0) }
    }

    private static let selectNote = "SELECT * FROM note WHERE id = $1 AND account = $2"

    func add(
        _ body: String,
        at location: Note.Location,
        preconditions: WritePreconditions,
        quota: StorageQuota,
        account: Int64,
        now: Date
    ) async throws -> Note {
        try await write(of: account) { transaction -> Note in
            try preconditions.check(version: try Self.revision(account, transaction), of: "The list of notes")
            return try quota.holding({ try Self.usage(account, transaction) }) {
                let size = NoteStore.bytesBeside + body.utf8.count + location.name.utf8.count
                let revision = try Self.count(AccountChange(notes: 1, bytes: size), of: account, transaction)
                let new = Note(id: 0, body: body, location: location, modified: now, created: now, revision: revision)
                return try Self.insert(new, account: account, transaction)
            }
        }
    }

    func change(
        _ id: Int64,
        body: String?,
        location: Note.Location?,
        preconditions: WritePreconditions,
        quota: StorageQuota,
        account: Int64,
        now: Date
    ) async throws -> Note? {
        try await write(of: account) { transaction -> Note? in
            guard let old = try Self.note(id, account: account, transaction) else { return nil }
            try preconditions.check(version: old.revision, of: "The note \(Note.identity(id))")
            return try quota.holding({ try Self.usage(account, transaction) }) {
                let (body, location) = (body ?? old.body, location ?? old.location)
                let growth = body.utf8.count + location.name.utf8.count - old.body.utf8.count
                let change = AccountChange(bytes: growth - old.location.name.utf8.count)
                let note = Note(
                    id: id,
                    body: body,
                    location: location,
                    modified: now,
                    created: old.created,
                    revision: try Self.count(change, of: account, transaction)
                )
                try Self.update(old, to: note, account: account, transaction)
                return note
            }
        }
    }

    func delete(_ id: Int64, toTrashAt now: Date?, preconditions: WritePreconditions, account: Int64) async throws
        -> Bool
    {
        try await write(of: account) { transaction -> Bool in
            guard let old = try Self.note(id, account: account, transaction) else { return false }
            try preconditions.check(version: old.revision, of: "The note \(Note.identity(id))")
            let size = Self.size(of: old)
            let toTrash = AccountChange(notes: -1, trashed: 1, trashBytes: size)
            let change = now == nil ? AccountChange(notes: -1, bytes: -size) : toTrash
            let revision = try Self.count(change, of: account, transaction)
            if let now {
                try transaction.execute(Self.moveToTrash, [id, now.millisecondsSince1970, revision])
            }
            try Self.remove(old, account: account, transaction)
            return true
        }
    }

    func revision(account: Int64) async throws -> Int {
        try await database.rows(Self.selectRevision, [account]) { try $0.value("revision") as Int }.first ?? 0
    }

    static func revision(_ account: Int64, _ transaction: SQLTransaction) throws -> Int {
        try transaction.rows(selectRevision, [account]).first?.value("revision") ?? 0
    }

    private static let selectRevision = "SELECT revision FROM notes_account WHERE id = $1"

    static func size(of note: Note) -> Int {
        NoteStore.bytesBeside + note.body.utf8.count + note.location.name.utf8.count
    }

    static func usage(_ account: Int64, _ transaction: SQLTransaction) throws -> StorageUsage {
        let sql = "SELECT bytes, trash_bytes FROM notes_account WHERE id = $1"
        guard let row = try transaction.rows(sql, [account]).first else { return StorageUsage(bytes: 0, trash: 0) }
        return StorageUsage(bytes: try row.value("bytes"), trash: try row.value("trash_bytes"))
    }

    /// What a change adds to the counters of an account.
    struct AccountChange {
        var notes = 0
        var trashed = 0
        /// Of its notes, in the trash or not.
        var bytes = 0
        var trashBytes = 0
    }

    /// Counts a change.
    ///
    /// - Returns: the account's revision.
    /// - Throws: `NoteStore.AccountChanged` if there is none of that id; `SharedStoreError`.
    static func count(_ change: AccountChange, of account: Int64, _ transaction: SQLTransaction) throws -> Int {
        let row = try transaction.rows(
            """
            UPDATE notes_account SET
                revision = revision + 1, notes = notes + $2, trashed = trashed + $3, bytes = bytes + $4,
                trash_bytes = trash_bytes + $5
            WHERE id = $1 RETURNING revision
            """,
            [account, change.notes, change.trashed, change.bytes, change.trashBytes]
        ).first
        guard let row else { throw NoteStore.AccountChanged() }
        return try row.value("revision")
    }

    private static let moveToTrash = """
        INSERT INTO note_trash (\(NoteColumns.kept), deleted, deletion)
        SELECT \(NoteColumns.kept), $2, $3 FROM note WHERE id = $1
        """
}

/// The columns of notes in a shared store.
enum NoteColumns {
    /// What the trash has, too.
    static let kept = """
        id, account, body, opening, latitude, longitude, location_name, created, modified, revision
        """
    static let outline = "id, opening, latitude, longitude, location_name, modified, revision"
}

extension Note {
    /// Reads a row of table `note` or `note_trash`; nil if its coordinates are out of range, which nothing writes.
    init?(_ row: SQLRow) throws {
        guard let location = try Location(row) else { return nil }
        self.init(
            id: try row.value("id"),
            body: try row.value("body"),
            location: location,
            modified: Date(millisecondsSince1970: try row.value("modified")),
            created: Date(millisecondsSince1970: try row.value("created")),
            revision: try row.value("revision")
        )
    }
}

extension NoteOutline {
    /// Reads the columns ``NoteColumns/outline``.
    init?(_ row: SQLRow) throws {
        guard let location = try Note.Location(row) else { return nil }
        self.init(
            id: try row.value("id"),
            opening: try row.value("opening"),
            location: location,
            modified: Date(millisecondsSince1970: try row.value("modified")),
            revision: try row.value("revision")
        )
    }
}

extension Note.Location {
    fileprivate init?(_ row: SQLRow) throws {
        let (latitude, longitude): (Double, Double) = (try row.value("latitude"), try row.value("longitude"))
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else { return nil }
        self.init(coordinate: coordinate, name: try row.value("location_name"))
    }
}
