import Cluster
import GRDB
import Screens
import Storage

extension NoteStore {
    /// Finds the notes of an account that match a search, the last saved first.
    static func hits(_ search: WordQuery, account: Int64, page: PageRequest, _ db: Database) throws -> SearchHits {
        guard !search.isEmpty else { return SearchHits() }
        var arguments = StatementArguments()
        for (index, passage) in search.passages.enumerated() { arguments += ["passage\(index)": passage] }
        let before = page.key?[0].integer.map { rank(account, Int(clamping: $0)) }
        return try SearchHits(
            selectHits(passages: search.passages.count),
            terms.search(search.terms, of: account),
            arguments,
            .init(limit: page.limit, offset: page.offset, before: before),
            db
        )
    }

    /// Returns the notes of some ranks, the last saved first.
    static func outlines(_ ranks: [Int64], account: Int64, _ db: Database) throws -> [NoteOutline] {
        let revisions = ranks.map(revision).jsonArray
        return try NoteOutline.fetchAll(db.cachedStatement(sql: selectRanked), arguments: [account, revisions])
            .sorted { $0.revision > $1.revision }
    }

    // Terms are three characters of a passage, or 24 letters of a word, at most: whether a longer one is there is seen
    // in the passages themselves.
    static func selectHits(passages: Int) -> String {
        let isHit = (0..<passages).map { "instr(text, :passage\($0)) > 0" }.joined(separator: " AND ")
        let hit =
            passages == 0 ? "1" : "coalesce((SELECT \(isHit) FROM note_passage WHERE rank = note_term.rowid), 0)"
        return """
            SELECT note_term.rowid AS rank, \(hit) AS is_hit FROM note_term
            WHERE note_term MATCH :terms AND note_term.rowid < :before ORDER BY note_term.rowid DESC
            """
    }

    // The account is a condition again because an index grants no access.
    static let selectRanked = """
        SELECT \(NoteOutline.columns) FROM note
        WHERE account = ? AND revision IN (SELECT value FROM json_each(?))
        """

    /// Returns the names of places that match a search, each once, with its last position; the last saved first.
    func places(_ search: WordQuery, account: Int64, limit: Int) throws -> [Note.Location] {
        guard !search.isEmpty else { return [] }
        let terms = Self.terms.search(search.terms.map(NoteTerms.ofPlace), of: account)
        let notes = try users.read { db in
            let request = SearchHits.Request(limit: Self.mostPlaces)
            let hits = try SearchHits(Self.selectHits(passages: 0), terms, [:], request, db)
            return try Self.outlines(hits.ranks, account: account, db)
        }
        return Self.places(search, among: notes, limit: limit)
    }

    /// Returns the names of places that match a search, each once; the first of those with one name.
    static func places(_ search: WordQuery, among notes: [NoteOutline], limit: Int) -> [Note.Location] {
        var seen: Set<String> = []
        let found = notes.map(\.location).filter { location in
            let passages = search.passages.isEmpty ? "" : SearchTerms(location.name).passages
            return search.passages.allSatisfy(passages.contains)
                && seen.insert(PlaceName.folded(location.name)).inserted
        }
        return Array(found.prefix(limit))
    }

    // The newest are enough: older places with the same beginning are in the gazetteer, or match when more is typed.
    static let mostPlaces = 200
}
