import Database
import Foundation
import GRDB
import Screens

/// A page of an account's notes, read in one transaction.
struct NotePage: Sendable {
    let notes: [NoteOutline]
    /// Notes that match.
    let total: Int
    /// Notes of the account.
    let all: Int
    let revision: Int
}

extension NoteStore {
    /// Returns a page of an account's notes, the last saved first; with a search those that match it.
    func list(account: Int64, page: PageRequest, search: SearchQuery?) throws -> NotePage {
        try database.read { db in
            let all = try Self.count(account, db)
            let revision = try Self.revision(account, db)
            let (notes, total) =
                try search.map { try Self.matching($0, account: account, page: page, db) }
                ?? (try Self.page(account, page, db), all)
            return NotePage(notes: notes, total: total, all: all, revision: revision)
        }
    }

    /// Returns a page of an account's notes.
    private static func page(_ account: Int64, _ page: PageRequest, _ db: Database) throws -> [NoteOutline] {
        try Row.fetchAll(
            try db.cachedStatement(sql: selectPage),
            arguments: ["account": account, "limit": page.limit, "offset": page.offset]
        ).compactMap(NoteOutline.init(row:))
    }

    /// Returns a page of the notes that match a search, and their number.
    private static func matching(_ search: SearchQuery, account: Int64, page: PageRequest, _ db: Database) throws
        -> (notes: [NoteOutline], total: Int)
    {
        let expression = search.expression(account: account)
        if !search.fragments.isEmpty {
            return try containing(search.fragments, expression, account: account, page: page, db)
        }
        guard let expression else { return ([], 0) }
        let rows = try Row.fetchAll(
            try db.cachedStatement(sql: selectMatching),
            arguments: ["account": account, "limit": page.limit, "offset": page.offset, "search": expression]
        )
        let total = try Int.fetchOne(try db.cachedStatement(sql: countMatching), arguments: ["search": expression])
        return (rows.compactMap(NoteOutline.init(row:)), total ?? 0)
    }

    /// Returns the number of an account's notes: the sum of the sixteen cells of the coarsest grid.
    static func count(_ account: Int64, _ db: Database) throws -> Int {
        try Int.fetchOne(
            try db.cachedStatement(sql: "SELECT coalesce(sum(notes), 0) FROM note_cell WHERE account = ? AND zoom = 0"),
            arguments: [account]
        ) ?? 0
    }

    static let selectPage = """
        SELECT \(NoteOutline.columns) FROM note WHERE account = :account
        ORDER BY revision DESC LIMIT :limit OFFSET :offset
        """

    // The account is part of the expression; it is a condition again because an index grants no access.
    static let selectMatching = """
        SELECT \(NoteOutline.columns) FROM note_text CROSS JOIN note ON note.id = note_text.rowid
        WHERE note_text MATCH :search AND note.account = :account
        ORDER BY note.revision DESC LIMIT :limit OFFSET :offset
        """
    static let countMatching = "SELECT count(*) FROM note_text WHERE note_text MATCH :search"

    /// Returns a page of the notes that contain the fragments anywhere, and their number. Their texts are read one by
    /// one, unless `expression` excludes them.
    private static func containing(
        _ fragments: [String],
        _ expression: String?,
        account: Int64,
        page: PageRequest,
        _ db: Database
    ) throws -> (notes: [NoteOutline], total: Int) {
        let source = containingSource(fragments: fragments.count, isIndexed: expression != nil)
        var arguments: [String: (any DatabaseValueConvertible)?] = ["account": account]
        if let expression { arguments["search"] = expression }
        for (index, fragment) in fragments.enumerated() { arguments["fragment\(index)"] = fragment }
        let total =
            try Int.fetchOne(
                try db.cachedStatement(sql: "SELECT count(*) \(source)"),
                arguments: StatementArguments(arguments)
            ) ?? 0
        arguments.merge(["limit": page.limit, "offset": page.offset]) { own, _ in own }
        let rows = try Row.fetchAll(
            try db.cachedStatement(
                sql: "SELECT \(NoteOutline.columns) \(source) ORDER BY note.revision DESC LIMIT :limit OFFSET :offset"
            ),
            arguments: StatementArguments(arguments)
        )
        return (rows.compactMap(NoteOutline.init(row:)), total)
    }

    private static func containingSource(fragments: Int, isIndexed: Bool) -> String {
        let indexed = isIndexed ? "note.id IN (SELECT rowid FROM note_text WHERE note_text MATCH :search) AND " : ""
        let contained = (0..<fragments).map {
            "instr(lower(note.body || char(10) || note.location_name), lower(:fragment\($0))) > 0"
        }.joined(separator: " AND ")
        return "FROM note WHERE note.account = :account AND \(indexed)\(contained)"
    }

    /// Returns the names of places that match a search, each once, with its last position; the last saved first.
    func places(_ search: SearchQuery, account: Int64, limit: Int) throws -> [Note.Location] {
        guard let expression = search.expression(account: account, placesOnly: true) else { return [] }
        let notes = try database.read { db in
            try Row.fetchAll(
                try db.cachedStatement(sql: Self.selectPlaces),
                arguments: ["search": expression, "account": account]
            )
            .compactMap(NoteOutline.init(row:))
        }
        var seen: Set<String> = []
        return notes.sorted { $0.revision > $1.revision }.map(\.location)
            .filter { $0.name != Note.Location.unknown.name && seen.insert(PlaceName.folded($0.name)).inserted }
            .prefix(limit).map(\.self)
    }

    // The newest are enough: older places with the same beginning are in the gazetteer, or match when more is typed.
    static let selectPlaces = """
        SELECT \(NoteOutline.columns) FROM note_text CROSS JOIN note ON note.id = note_text.rowid
        WHERE note_text MATCH :search AND note.account = :account ORDER BY note_text.rowid DESC LIMIT 200
        """
}
