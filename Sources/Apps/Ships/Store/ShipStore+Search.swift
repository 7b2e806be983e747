import GRDB
import Screens
import Storage
import Synchronization

/// The texts of all ships in memory, of one revision: the API has few ships, and searches look for any part of a text.
final class ShipIndex: Sendable {
    struct Entry: Sendable {
        let id: String
        let sortKey: String
        let texts: RelevanceQuery.Texts
    }

    /// The most ships whose words take the place of others.
    static let mostForVariants = 5000

    private let state = Mutex<(content: Int, entries: [Entry])?>(nil)

    /// Returns the ships of the revision that a transaction sees.
    fileprivate func entries(_ db: Database) throws -> [Entry] {
        let content = try ShipStore.contentRevision(db)
        if let known = state.withLock({ $0 }), known.content == content { return known.entries }
        let rows = try Row.fetchCursor(db, sql: Self.select)
        var entries: [Entry] = []
        while let row = try rows.next() {
            let roles: [String] = try row.json("roles")
            let (type, port): (String?, String?) = try (row.value("type"), row.value("home_port"))
            let name: String = try row.value("name")
            let texts = RelevanceQuery.Texts(title: name, others: [type, port].compactMap(\.self) + roles)
            entries.append(Entry(id: try row.value("id"), sortKey: try row.value("sort_key"), texts: texts))
        }
        state.withLock { [entries] in $0 = (content, entries) }
        return entries
    }

    private static let select = """
        SELECT id, sort_key, name, type, home_port, roles FROM ship WHERE removed_revision IS NULL
        """
}

extension ShipStore {
    private struct Hit {
        let rank: Int
        let entry: ShipIndex.Entry

        var key: (Int, String, String) { (rank, entry.sortKey, entry.id) }
    }

    /// Reads a page of the ships that an account sees and a search finds: the most relevant first, then by name.
    ///
    /// - Parameter since: The revision that changes are counted from; nil for the one before the current one.
    func page(of query: RelevanceQuery, _ db: Database, account: String, page: PageRequest, since: Int?) throws
        -> ShipPage
    {
        guard !query.words.isEmpty else { return try ShipPage(db, account: account, page: page, since: since) }
        let counts = try ShipPage.Counts(db, account: account)
        let hidden = try Set(String.fetchAll(db, sql: Self.selectHidden, arguments: ["account": account]))
        let entries = try index.entries(db).filter { !hidden.contains($0.id) }
        let (hits, variant) = try Self.hits(of: query, among: entries)
        return ShipPage(
            page: try Self.rows(of: hits, page, db),
            counts: counts,
            changes: try Self.changes(db, account: account, since: since, now: counts, limit: page.limit),
            variant: variant
        )
    }

    private static func hits(of query: RelevanceQuery, among entries: [ShipIndex.Entry]) throws
        -> ([Hit], SearchVariant?)
    {
        let plain = entries.compactMap { entry in query.rank(of: entry.texts).map { Hit(rank: $0, entry: entry) } }
        guard plain.isEmpty else { return (plain.sorted { $0.key < $1.key }, nil) }
        let texts = entries.prefix(ShipIndex.mostForVariants).map { (entry: $0, folded: $0.texts.folded) }
        let stored = StoredWords(of: texts.map(\.folded))
        let text = query.words.joined(separator: " ")
        let other = try SearchVariants.first(for: text, among: stored) { variant -> [Hit]? in
            let hits = texts.filter { variant.matches($0.folded) }.map { Hit(rank: 0, entry: $0.entry) }
            return hits.isEmpty ? nil : hits
        }
        return ((other?.found ?? []).sorted { $0.key < $1.key }, other?.variant)
    }

    /// Reads the rows of a page of hits.
    private static func rows(of hits: [Hit], _ page: PageRequest, _ db: Database) throws -> ListPage<ShipPage.Entry> {
        var rest = hits[...]
        if let key = page.key, let rank = key[0].integer, let sortKey = key[1].text, let id = key[2].text {
            rest = rest.drop { $0.key <= (Int(rank), sortKey, id) }
        } else {
            rest = rest.dropFirst(page.offset)
        }
        let shown = rest.prefix(page.limit)
        let ids = shown.map(\.entry.id).jsonArray
        let statement = try db.cachedStatement(sql: selectHits)
        let rows = try Row.fetchAll(statement, arguments: [ids]).map(ShipPage.Entry.init)
        let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        return ListPage(
            shown.compactMap { known[$0.entry.id] },
            hasMore: rest.count > shown.count,
            key: shown.last.map { [.integer(Int64($0.rank)), .text($0.entry.sortKey), .text($0.entry.id)] },
            total: hits.count
        )
    }

    static let selectHits = "\(select) AND ship.id IN (SELECT value FROM json_each(?))"
}
