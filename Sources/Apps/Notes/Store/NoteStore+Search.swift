import Cluster
import GRDB
import Screens
import Storage

extension NoteStore {
    /// Finds the notes of an account that match a search, the last saved first.
    ///
    /// - Parameter text: The text of the search, for other words if no note has these, and they are the whole search;
    ///   nil for none.
    static func hits(_ search: NoteQuery, text: String? = nil, account: Int64, page: PageRequest, _ db: Database) throws
        -> SearchHits
    {
        let before = page.key?[0].integer.map { rank(account, Int(clamping: $0)) }
        let request = SearchHits.Request(limit: page.limit, offset: page.offset, before: before)
        let plain = try hits(search, account: account, request, db)
        guard let text, !search.needsText, !search.hasExclusions else { return plain }
        return try plain.orVariants(of: text, among: vocabulary.words(of: account, db)) { variant in
            try SearchHits(selectHits(passages: 0), terms.wordSearch(variant, of: account), [:], request, db)
        }
    }

    private static func hits(_ search: NoteQuery, account: Int64, _ request: SearchHits.Request, _ db: Database) throws
        -> SearchHits
    {
        guard !search.isEmpty else { return SearchHits() }
        var arguments: StatementArguments = ["account": account]
        for (index, passage) in search.passages.enumerated() { arguments += ["passage\(index)": passage] }
        let excluded = search.excludedTerms.map { "(\(terms.search($0, of: account).expression))" }
        if !excluded.isEmpty { arguments += ["excluded": excluded.joined(separator: " OR ")] }
        return try SearchHits(
            selectHits(search),
            terms.search(search.terms, of: account),
            arguments,
            request,
            db,
            check: search.needsText ? { search.isFound(in: Self.texts($0)) } : nil
        )
    }

    /// Returns the two texts of a note that are read as one.
    private static func texts(_ joined: String) -> [String] {
        let end = joined.utf8.lastIndex(of: UInt8(ascii: "\n")) ?? joined.endIndex
        return [String(joined[..<end]), String(joined[end...])]
    }

    /// Returns the notes of some ranks, the last saved first.
    ///
    /// - Parameter words: The words of the search, for the passages of the notes.
    static func outlines(_ ranks: [Int64], account: Int64, words: SearchWords = SearchWords(), _ db: Database) throws
        -> [NoteOutline]
    {
        let arguments: StatementArguments = [account, ranks.map(revision).jsonArray]
        var notes = try NoteOutline.fetchAll(db.cachedStatement(sql: selectRanked), arguments: arguments)
            .sorted { $0.revision > $1.revision }
        guard words != SearchWords() else { return notes }
        let places = Dictionary(uniqueKeysWithValues: notes.enumerated().map { ($1.id, $0) })
        let texts = try Row.fetchCursor(db.cachedStatement(sql: selectBodies), arguments: arguments)
        var bytes = 0
        while bytes < mostBytesOfPassages, let row = try texts.next() {
            let (id, body): (Int64, String) = try (row.value(0), row.value(1))
            bytes += body.utf8.count
            if let place = places[id] { notes[place].passage = SearchPassage(of: body, words: words) }
        }
        return notes
    }

    /// Texts of notes in which passages are looked for, for a page: more would take a second.
    private static let mostBytesOfPassages = 4 << 20

    static func selectHits(_ search: NoteQuery) -> String {
        let excluded = search.excludedTerms.isEmpty ? [] : [":excluded"]
        return search.terms.isEmpty
            ? selectOthers(excluded: excluded, hasText: search.needsText)
            : selectHits(passages: search.passages.count, excluded: excluded, hasText: search.needsText)
    }

    // Terms are three characters of a passage, or 24 letters of a word, at most: whether a longer one is there is seen
    // in the passages themselves. Which words follow each other is seen in the text.
    static func selectHits(passages: Int, excluded: [String] = [], hasText: Bool = false) -> String {
        let isHit = (0..<passages).map { "instr(text, :passage\($0)) > 0" }.joined(separator: " AND ")
        let hit =
            passages == 0 ? "1" : "coalesce((SELECT \(isHit) FROM note_passage WHERE rank = note_term.rowid), 0)"
        let isListed = ([hit] + excluded.map { lacks($0, "note_term.rowid") }).joined(separator: " AND ")
        let text = """
            , (SELECT body || char(10) || location_name FROM note
                WHERE account = :account AND revision = note_term.rowid & \(1 << revisionBits - 1)) AS text
            """
        return """
            SELECT note_term.rowid AS rank, \(isListed) AS is_hit\(hasText ? text : "") FROM note_term
            WHERE note_term MATCH :terms AND note_term.rowid < :before ORDER BY note_term.rowid DESC
            """
    }

    /// Returns the statement that reads all notes but those with some terms.
    private static func selectOthers(excluded: [String], hasText: Bool) -> String {
        let rank = "(account << \(revisionBits) | revision)"
        let hit = (["1"] + excluded.map { lacks($0, rank) }).joined(separator: " AND ")
        return """
            SELECT \(rank) AS rank, \(hit) AS is_hit\(hasText ? ", body || char(10) || location_name AS text" : "")
            FROM note WHERE account = :account AND \(rank) < :before ORDER BY revision DESC
            """
    }

    private static func lacks(_ terms: String, _ rank: String) -> String {
        "NOT EXISTS (SELECT 1 FROM note_term AS other WHERE other.note_term MATCH \(terms) AND other.rowid = \(rank))"
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

    static let selectBodies = """
        SELECT id, body FROM note WHERE account = ? AND revision IN (SELECT value FROM json_each(?))
        """

    // The newest are enough: older places with the same beginning are in the gazetteer, or match when more is typed.
    static let mostPlaces = 200
}
