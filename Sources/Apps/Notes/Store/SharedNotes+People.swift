import Database
import Foundation
import Freshness
import Screens
import SharedStore
import Synchronization
import Upstream

/// The people are the same on all servers: those that the first of them has fetched.
extension SharedNotes {
    /// People of responses.
    private final class FetchedPeople: Sendable {
        /// Those of a response that was read, and of one that was fetched just now.
        let people = Mutex<(valid: [Person]?, new: [Person]?)>((nil, nil))
    }

    var peopleToken: ChangeToken { changes.token(of: Self.peopleTopic) }

    // A picture belongs to the cache of one server; people are replaced on others, too.
    var keepsPictures: Bool { false }

    private static let peopleTopic = ServerEvent.Audience.app(NoteStore.app).topic

    func people(_ page: PageRequest, search: NameSearch?) async throws -> PeoplePage {
        let key: [any SQLParameter] = [
            page.key?[0].text ?? "", page.key?[1].text ?? "", page.key?[2].integer ?? Int64.min,
        ]
        return try await database.read { transaction in
            let snapshot = try transaction.rows(Self.selectSnapshot).first.map { try PeopleSnapshot($0) }
            guard let search else {
                let rows = try transaction.rows(Self.selectPeople, key + [page.limit + 1, page.offset])
                return PeoplePage(try rows.map { try Person($0) }, limit: page.limit, total: nil, snapshot)
            }
            let rows = try transaction.rows(Self.searchPeople, key + [search.words])
            let found = try rows.map { (person: try Person($0), isBehind: try $0.value("is_behind") as Bool) }
                .filter { search.matches($0.person.fullName) }
            let start = page.key.map { _ in found.firstIndex(where: \.isBehind) ?? found.endIndex }
            let shown = found.dropFirst(start ?? page.offset).prefix(page.limit + 1).map(\.person)
            return PeoplePage(shown, limit: page.limit, total: found.count, snapshot)
        }
    }

    private static let isBehind = "(sort_first, sort_last, id) > ($1, $2, $3)"
    private static let selectPeople = """
        SELECT * FROM notes_person WHERE \(isBehind) ORDER BY sort_first, sort_last, id LIMIT $4 OFFSET $5
        """
    private static let searchPeople = """
        SELECT *, \(isBehind) AS is_behind FROM notes_person
        WHERE cardinality($4) > 0 AND (
            greatest(length(sort_first), length(sort_last)) >= 200
            OR NOT EXISTS (
                SELECT 1 FROM unnest($4) AS word WHERE strpos(sort_first || ' ' || sort_last, word) = 0
            )
        )
        ORDER BY sort_first, sort_last, id
        """
    private static let selectSnapshot = "SELECT snapshot, fetched, people FROM notes_people"

    func snapshot() async throws -> PeopleSnapshot? {
        try await database.rows(Self.selectSnapshot) { try PeopleSnapshot($0) }.first
    }

    func personReader(_ id: Int64?) async throws -> () throws -> (person: Person?, snapshot: PeopleSnapshot?) {
        let found: (person: Person?, snapshot: PeopleSnapshot?) = try await database.read { transaction in
            let snapshot = try transaction.rows(Self.selectSnapshot).first.map { try PeopleSnapshot($0) }
            let rows = try transaction.rows("SELECT * FROM notes_person WHERE id = $1", [id])
            return (try rows.first.map { try Person($0) }, snapshot)
        }
        return { found }
    }

    func fetchPeople(
        _ client: PeopleClient,
        _ cachePolicy: CachePolicy,
        replacing snapshot: PeopleSnapshot?,
        now: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) async throws -> ReadResult {
        let fetched = FetchedPeople()
        let (result, persistRows) = try await client.readPeople(cachePolicy, storedAt: snapshot?.fetchedAt) { people in
            fetched.people.withLock { $0.valid = people }
            return Resource.PersistRows { _ in fetched.people.withLock { $0.new = people } }
        }
        // A stored response counts only if there are no people: it may be older than those that another server has
        // fetched.
        let hasStored = snapshot == nil && persistRows != nil
        guard let people = fetched.people.withLock({ $0.new ?? (hasStored ? $0.valid : nil) }) else { return result }
        if let number = try await replace(snapshot?.number ?? 0, by: people, fetchedAt: now) { changed(number) }
        return result
    }

    /// Replaces all people, unless another server has been faster.
    ///
    /// - Returns: the number of the new snapshot; nil if they were not replaced.
    private func replace(_ number: Int, by people: [Person], fetchedAt: Date) async throws -> Int? {
        defer { changes.changed(Self.peopleTopic) }
        return try await database.write(turns: ["notes/people"]) { transaction in
            let current: Int = try transaction.rows(Self.selectSnapshot).first?.value("snapshot") ?? 0
            guard current == number else { return nil }
            try transaction.execute("DELETE FROM notes_person")
            for person in people { try transaction.execute(Self.insertPerson, Self.columns(person)) }
            try transaction.execute(
                """
                INSERT INTO notes_people (one, snapshot, fetched, people) VALUES (1, $1, $2, $3)
                ON CONFLICT (one) DO UPDATE SET snapshot = $1, fetched = $2, people = $3
                """,
                [number + 1, fetchedAt.millisecondsSince1970, people.count]
            )
            return number + 1
        }
    }

    private static let insertPerson = """
        INSERT INTO notes_person (id, first_name, last_name, sort_first, sort_last, email, gender, avatar_url)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """

    private static func columns(_ person: Person) -> [any SQLParameter] {
        let texts: [String?] = [
            person.firstName, person.lastName, person.sortKeys.first, person.sortKeys.last, person.email,
            person.gender, person.avatarURL,
        ]
        // PostgreSQL has no U+0000 in texts.
        return [person.id] + texts.map { $0?.replacing("\0", with: "") }
    }
}

extension PeopleSnapshot {
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            number: try row.value("snapshot"),
            fetchedAt: Date(millisecondsSince1970: try row.value("fetched")),
            count: try row.value("people")
        )
    }
}

extension Person {
    fileprivate init(_ row: SQLRow) throws {
        self.init(
            id: try row.value("id"),
            firstName: try row.value("first_name"),
            lastName: try row.value("last_name"),
            email: try row.value("email"),
            gender: try row.value("gender"),
            avatarURL: try row.value("avatar_url")
        )
    }
}
