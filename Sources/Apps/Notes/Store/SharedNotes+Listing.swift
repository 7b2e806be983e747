import Foundation
import Screens
import SharedStore
import TextSearch

extension SharedNotes {
    func list(account: Int64, page: PageRequest, search: WordQuery?) async throws -> NotePage {
        try await database.read { transaction in
            let counts = try transaction.rows("SELECT notes, revision FROM notes_account WHERE id = $1", [account])
            let usage = try Self.usage(account, transaction)
            let all: Int = try counts.first?.value("notes") ?? 0
            let revision: Int = try counts.first?.value("revision") ?? 0
            let before = page.key?.first?.integer ?? .max
            let found: (notes: [NoteOutline], total: Int)
            if let search {
                found = try Self.hits(search, account, before: before, page.offset, page.limit + 1, transaction)
            } else {
                let rows = try transaction.rows(Self.selectPage, [account, before, page.limit + 1, page.offset])
                found = (try rows.map { try NoteOutline($0) }.compactMap(\.self), all)
            }
            let counted = search == nil ? .max : max(SearchHits.counted, page.key == nil ? page.offset + page.limit : 0)
            let shown = Array(found.notes.prefix(page.limit))
            return NotePage(
                notes: shown,
                hasMore: found.notes.count > page.limit,
                next: shown.last?.revision,
                isCut: false,
                total: found.total <= counted ? found.total : nil,
                totalAtLeast: found.total <= counted ? nil : counted + 1,
                all: all,
                revision: revision,
                usage: usage
            )
        }
    }

    private static let selectPage = """
        SELECT \(NoteColumns.outline) FROM note WHERE account = $1 AND revision < $2
        ORDER BY revision DESC LIMIT $3 OFFSET $4
        """

    /// Finds the notes of an account that match a search, the last saved first, and their number.
    private static func hits(
        _ search: WordQuery,
        _ account: Int64,
        before: Int64,
        _ offset: Int,
        _ limit: Int,
        _ transaction: SQLTransaction
    ) throws -> (notes: [NoteOutline], total: Int) {
        guard !search.isEmpty else { return ([], 0) }
        let found: [any SQLParameter] = [account, terms(search.terms, of: account), search.passages]
        let total = try transaction.rows("\(hit) SELECT count(*) AS total FROM hit", found).first
        let rows = try transaction.rows(
            """
            \(hit) SELECT \(NoteColumns.outline) FROM note
            WHERE account = $1 AND revision IN
                (SELECT revision FROM hit WHERE revision < $4 ORDER BY revision DESC LIMIT $5 OFFSET $6)
            ORDER BY revision DESC
            """,
            found + [before, limit, min(offset, Int(Int32.max))]
        )
        return (try rows.map { try NoteOutline($0) }.compactMap(\.self), try total?.value("total") ?? 0)
    }

    // Materialized, so that the index is asked for the terms, and not each note of the account.
    private static let hit = """
        WITH hit AS MATERIALIZED (
            SELECT revision FROM note WHERE terms @> $2 AND account = $1
                AND NOT EXISTS (SELECT 1 FROM unnest($3) AS part WHERE strpos(note.passages, part) = 0)
        )
        """

    func placesReader(_ search: WordQuery, account: Int64, limit: Int) async throws -> () throws -> [Note.Location] {
        guard !search.isEmpty else { return { [] } }
        let terms = Self.terms(search.terms.map(NoteTerms.ofPlace), of: account)
        let notes = try await database.rows(
            """
            \(Self.hit) SELECT \(NoteColumns.outline) FROM note
            WHERE account = $1 AND revision IN (SELECT revision FROM hit ORDER BY revision DESC LIMIT $4)
            ORDER BY revision DESC
            """,
            [account, terms, [String](), NoteStore.mostPlaces]
        ) { try NoteOutline($0) }
        let places = NoteStore.places(search, among: notes.compactMap(\.self), limit: limit)
        return { places }
    }
}
