import Database
import Foundation
import GRDB
import ResponseStore
import Screens
import Upstream

extension NoteStore {
    /// Replaces all people by those of a response, in the transaction that stores the response.
    ///
    /// - Parameter changed: called with the number of the snapshot after the transaction was committed.
    static func persistRows(
        of people: [Person],
        fetchedAt: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) -> Resource.PersistRows {
        // The rows are made here, so that the transaction, for which other writes wait, only writes them.
        let rows = people.map(row)
        return { db in
            try db.execute(sql: "DELETE FROM notes_person")
            for row in rows { try db.cachedStatement(sql: insertPerson).execute(arguments: row) }
            // Pictures of people that were replaced may be evicted like others.
            try db.execute(sql: unpinReplaced)
            let snapshot = try Int.fetchAll(
                db,
                sql: nextSnapshot,
                arguments: ["now": fetchedAt.millisecondsSince1970]
            ).first
            db.afterNextTransaction { _ in changed(snapshot ?? 0) }
        }
    }

    /// Writes the rows of a response that was stored without them.
    func write(_ persistRows: @escaping Resource.PersistRows) async throws {
        try await database.write { try persistRows($0) }
    }

    private static func row(_ person: Person) -> StatementArguments {
        [
            person.id, person.firstName, person.lastName,
            PlaceName.folded(person.firstName ?? person.lastName ?? ""),
            PlaceName.folded(person.lastName ?? ""), person.email, person.gender, person.avatarURL,
        ]
    }

    private static let insertPerson = """
        INSERT INTO notes_person (id, first_name, last_name, sort_first, sort_last, email, gender, avatar_url)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let unpinReplaced = """
        UPDATE stored_response SET pinned = 0
        WHERE upstream = 'people' AND pinned = 1
            AND url NOT IN (SELECT avatar_url FROM notes_person WHERE avatar_url IS NOT NULL)
        """
    private static let nextSnapshot = """
        INSERT INTO notes_people (one, snapshot, fetched) VALUES (1, 1, :now)
            ON CONFLICT (one) DO UPDATE SET snapshot = snapshot + 1, fetched = :now RETURNING snapshot
        """

    /// Returns the snapshot of the stored people; nil if none were ever fetched.
    func snapshot() throws -> PeopleSnapshot? {
        try database.read(Self.snapshot)
    }

    private static func snapshot(_ db: Database) throws -> PeopleSnapshot? {
        try Row.fetchOne(try db.cachedStatement(sql: "SELECT snapshot, fetched FROM notes_people")).map {
            PeopleSnapshot(number: $0["snapshot"], fetchedAt: Date(millisecondsSince1970: $0["fetched"]))
        }
    }

    /// Returns a page of the people by first name, and their number, read in one transaction.
    ///
    /// - Parameter search: words that the words of a name must begin with; nil for all people.
    func people(_ page: PageRequest, search: NameSearch? = nil) throws -> (
        people: [Person], total: Int, snapshot: Int
    ) {
        try database.read { db in
            if let search {
                let all = try Row.fetchAll(try db.cachedStatement(sql: Self.selectAllPeople)).map(Person.init(row:))
                let found = all.filter { search.matches($0.fullName) }
                let shown = Array(found.dropFirst(page.offset).prefix(page.limit))
                return (shown, found.count, try Self.snapshot(db)?.number ?? 0)
            }
            let rows = try Row.fetchAll(
                try db.cachedStatement(sql: Self.selectPeople),
                arguments: ["limit": page.limit, "offset": page.offset]
            )
            let total = try Int.fetchOne(try db.cachedStatement(sql: "SELECT count(*) FROM notes_person")) ?? 0
            return (rows.map(Person.init(row:)), total, try Self.snapshot(db)?.number ?? 0)
        }
    }

    static let selectAllPeople = "SELECT * FROM notes_person ORDER BY sort_first, sort_last, id"
    static let selectPeople = selectAllPeople + " LIMIT :limit OFFSET :offset"

    /// Returns a person; nil if there is none of that id.
    func person(_ id: Int64) throws -> Person? {
        try database.read { db in
            try Row.fetchOne(try db.cachedStatement(sql: "SELECT * FROM notes_person WHERE id = ?"), arguments: [id])
                .map(Person.init(row:))
        }
    }
}

extension Person {
    /// Reads a row of table `notes_person`.
    init(row: Row) {
        self.init(
            id: row["id"],
            firstName: row["first_name"],
            lastName: row["last_name"],
            email: row["email"],
            gender: row["gender"],
            avatarURL: row["avatar_url"]
        )
    }
}
