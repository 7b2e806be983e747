import Cluster
import Concurrency
import Foundation
import GRDB
import Screens
import Storage
import Upstream

extension NoteStore {
    /// Whether the pictures of people are kept as long as the people are. Those of several servers are in a cache of
    /// one, and are replaced on others, too.
    var keepsPictures: Bool { !users.isShared }

    /// - Parameters:
    ///   - snapshot: the one that is replaced; nil if there is none.
    ///   - changed: called with the number of the new snapshot.
    func fetchPeople(
        _ client: PeopleClient,
        _ cachePolicy: CachePolicy,
        replacing snapshot: PeopleSnapshot?,
        now: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) async throws -> ReadResult {
        let (result, persistRows) = try await client.readPeople(cachePolicy, storedAt: snapshot?.fetchedAt) { people in
            self.persistRows(of: people, replacing: snapshot, fetchedAt: now, changed: changed)
        }
        // A response that was stored without its rows, because the mount of the upstream has fetched it.
        if let persistRows, try self.snapshot() == nil { try await write(persistRows) }
        return result
    }

    /// Replaces all people by those of a response, unless another server has been faster. It runs in the transaction
    /// that stores the response, or before it if other servers have the people, too.
    ///
    /// - Parameter changed: called with the number of the snapshot after the transaction was committed.
    func persistRows(
        of people: [Person],
        replacing replaced: PeopleSnapshot? = nil,
        fetchedAt: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) -> Resource.PersistRows {
        // The rows are made here, so that the transaction, for which other writes wait, only writes them.
        let rows = people.map(Self.row)
        return users.persistRows(scope: "notes/people") { [isShared = users.isShared] db -> (Int?, Bool) in
            if isShared, try Self.snapshot(db)?.number != replaced?.number { return (nil, true) }
            try db.execute(sql: "DELETE FROM notes_person")
            for row in rows { try db.cachedStatement(sql: Self.insertPerson).execute(arguments: row) }
            // Pictures of people that were replaced may be evicted like others.
            if !isShared { try db.execute(sql: Self.unpinReplaced) }
            let now = fetchedAt.millisecondsSince1970
            return (try Int.fetchAll(db, sql: Self.nextSnapshot, arguments: ["now": now]).first, true)
        } committed: { [peopleChanges] snapshot in
            peopleChanges.bump()
            if let snapshot { changed(snapshot) }
        }
    }

    /// Writes the rows of a response that was stored without them.
    func write(_ persistRows: Resource.PersistRows) async throws {
        try await persistRows.writeBefore()
        guard !users.isShared else { return }
        while try await !users.write(scope: "notes/people", { try persistRows.writeNext(in: $0) }) {}
    }

    private static func row(_ person: Person) -> StatementArguments {
        [
            person.id, person.firstName, person.lastName, person.sortKeys.first, person.sortKeys.last, person.email,
            person.gender, person.avatarURL,
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
        INSERT INTO notes_people (one, snapshot, fetched, people)
            VALUES (1, 1, :now, (SELECT count(*) FROM notes_person))
            ON CONFLICT (one) DO UPDATE SET snapshot = snapshot + 1, fetched = :now, people = excluded.people
            RETURNING snapshot
        """

    /// Returns the snapshot of the stored people; nil if none were ever fetched.
    func snapshot() throws -> PeopleSnapshot? {
        try users.read(Self.snapshot)
    }

    private static func snapshot(_ db: Database) throws -> PeopleSnapshot? {
        try Row.fetchOne(try db.cachedStatement(sql: "SELECT snapshot, fetched, people FROM notes_people")).map {
            try PeopleSnapshot(number: $0.value(0), fetchedAt: $0.date(1), count: $0.size(2))
        }
    }

    /// Returns a page of the people by first name, and their snapshot, read in one transaction.
    ///
    /// - Parameter search: words that the words of a name must begin with; nil for all people.
    func people(_ page: PageRequest, search: NameSearch? = nil) throws -> (ListPage<Person>, PeopleSnapshot?) {
        try users.read { db in
            let snapshot = try Self.snapshot(db)
            guard let search else {
                var people = try Self.listedPeople.page(page, [:], db, Person.init)
                people.total = snapshot?.count ?? 0
                return (people, snapshot)
            }
            var arguments: StatementArguments = [
                "first": page.key?[0], "last": page.key?[1], "id": page.key?[2],
            ]
            for (index, word) in search.words.enumerated() { arguments += ["word\(index)": word] }
            let select = try db.cachedStatement(sql: Self.selectPeople(words: search.words.count))
            let found = try Row.fetchAll(select, arguments: arguments).filter {
                search.matches(try Person(row: $0).fullName)
            }
            let start = try page.key.map { _ in
                try found.firstIndex { try $0.value("is_behind") } ?? found.endIndex
            }
            let rows = found.dropFirst(start ?? page.offset)
            let people = try rows.prefix(page.limit).map(Person.init(row:))
            let key: [CursorValue]? = people.last.map {
                [.text($0.sortKeys.first), .text($0.sortKeys.last), .integer($0.id)]
            }
            return (ListPage(people, hasMore: rows.count > page.limit, key: key, total: found.count), snapshot)
        }
    }

    /// Selects the people whose folded names contain all words, of at most 5,000; which of them a word begins is seen
    /// in the names. A name of 200 characters may have more of them.
    private static func selectPeople(words: Int) -> String {
        let contains = (0..<words).map { word in
            """
            (instr(sort_first || ' ' || sort_last, :word\(word)) > 0
                OR max(length(sort_first), length(sort_last)) >= 200)
            """
        }
        return """
            SELECT *, (sort_first, sort_last, id) > (:first, :last, :id) AS is_behind FROM notes_person
            WHERE \(contains.isEmpty ? "0" : contains.joined(separator: " AND "))
            ORDER BY sort_first, sort_last, id
            """
    }

    static let listedPeople = PagedQuery(
        "SELECT * FROM notes_person WHERE true",
        by: ["sort_first", "sort_last", "id"]
    )

    /// Returns a person, nil if there is none of that id, and the snapshot.
    func person(_ id: Int64?) throws -> (person: Person?, snapshot: PeopleSnapshot?) {
        try users.read { db in
            let select = try db.cachedStatement(sql: "SELECT * FROM notes_person WHERE id = ?")
            return (try Person.fetchOne(select, arguments: [id]), try Self.snapshot(db))
        }
    }
}

extension Person: FetchableRecord {
    /// The columns that sort the list of people, before the id.
    var sortKeys: (first: String, last: String) {
        (PlaceName.folded(firstName ?? lastName ?? "").cutToKey, PlaceName.folded(lastName ?? "").cutToKey)
    }

    /// Reads a row of table `notes_person`.
    init(row: Row) throws {
        try self.init(
            id: row.value("id"),
            firstName: row.value("first_name"),
            lastName: row.value("last_name"),
            email: row.value("email"),
            gender: row.value("gender"),
            avatarURL: row.value("avatar_url")
        )
    }
}
