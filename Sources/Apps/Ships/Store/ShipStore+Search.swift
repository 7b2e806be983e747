import GRDB
import Screens
import Storage
import Synchronization

/// The texts of all ships in memory, of one revision: the API has few ships, and searches look for any part of a text.
final class ShipIndex: Sendable {
    /// The ships in the order of the list, which is that of the rows of the table.
    struct Ships: Sendable {
        fileprivate var keys: [(sortKey: String, id: String)] = []
        fileprivate var texts = RelevanceQuery.Table()
    }

    /// The most ships whose words take the place of others.
    static let mostForVariants = 5000

    private let state = Mutex<(content: Int, ships: Ships)?>(nil)

    /// Returns the ships of the revision that a transaction sees.
    fileprivate func ships(_ db: Database) throws -> Ships {
        let content = try ShipStore.contentRevision(db)
        if let known = state.withLock({ $0 }), known.content == content { return known.ships }
        let rows = try Row.fetchCursor(db, sql: Self.select)
        var found: [(key: (sortKey: String, id: String), texts: RelevanceQuery.Texts)] = []
        while let row = try rows.next() {
            let roles: [String] = try row.json("roles")
            let (type, port): (String?, String?) = try (row.value("type"), row.value("home_port"))
            let name: String = try row.value("name")
            let texts = RelevanceQuery.Texts(title: name, others: [type, port].compactMap(\.self) + roles)
            found.append(((try row.value("sort_key"), try row.value("id")), texts))
        }
        found.sort { $0.key < $1.key }
        var ships = Ships(keys: found.map(\.key))
        for ship in found { ships.texts.append(ship.texts) }
        state.withLock { [ships] in $0 = (content, ships) }
        return ships
    }

    private static let select = """
        SELECT id, sort_key, name, type, home_port, roles FROM ship WHERE removed_revision IS NULL
        """
}

extension ShipStore {
    private typealias Hit = (rank: Int, row: Int)

    /// Reads a page of the ships that an account sees and a search finds: the most relevant first, then by name.
    ///
    /// - Parameters:
    ///   - query: Nil for all ships.
    ///   - since: The revision that changes are counted from; nil for the one before the current one.
    func page(of query: RelevanceQuery?, _ db: Database, account: String, page: PageRequest, since: Int?) throws
        -> ShipPage
    {
        guard let query, !query.words.isEmpty else {
            return try ShipPage(db, account: account, page: page, since: since)
        }
        let counts = try ShipPage.Counts(db, account: account)
        let hidden = try Set(String.fetchAll(db, sql: Self.selectHidden, arguments: ["account": account]))
        let ships = try index.ships(db)
        let (hits, variant) = try Self.hits(of: query, among: ships) { !hidden.contains(ships.keys[$0].id) }
        return ShipPage(
            page: try Self.rows(of: hits, among: ships, page, db),
            counts: counts,
            changes: try Self.changes(db, account: account, since: since, now: counts, limit: page.limit),
            variant: variant
        )
    }

    private static func hits(of query: RelevanceQuery, among ships: ShipIndex.Ships, isSeen: (Int) -> Bool) throws
        -> ([Hit], SearchVariant?)
    {
        let plain = ships.texts.hits(of: query).filter { isSeen($0.row) }
        guard plain.isEmpty else { return (plain, nil) }
        let texts = ships.keys.indices.filter(isSeen).prefix(ShipIndex.mostForVariants)
            .map { (row: $0, folded: ships.texts.folded($0)) }
        let stored = StoredWords(of: texts.map(\.folded))
        let text = query.words.joined(separator: " ")
        let other = try SearchVariants.first(for: text, among: stored) { variant -> [Hit]? in
            let hits = texts.filter { variant.matches($0.folded) }.map { (rank: 0, row: $0.row) }
            return hits.isEmpty ? nil : hits
        }
        return (other?.found ?? [], other?.variant)
    }

    private static func rows(of hits: [Hit], among ships: ShipIndex.Ships, _ page: PageRequest, _ db: Database) throws
        -> ListPage<ShipPage.Entry>
    {
        var rest = hits[...]
        if let key = page.key, let rank = key[0].integer, let sortKey = key[1].text, let id = key[2].text {
            rest = rest.drop { hit in
                let own = ships.keys[hit.row]
                return (hit.rank, own.sortKey, own.id) <= (Int(rank), sortKey, id)
            }
        } else {
            rest = rest.dropFirst(page.offset)
        }
        let shown = rest.prefix(page.limit)
        let ids = shown.map { ships.keys[$0.row].id }
        let statement = try db.cachedStatement(sql: selectHits)
        let rows = try Row.fetchAll(statement, arguments: [ids.jsonArray]).map(ShipPage.Entry.init)
        let known = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        return ListPage(
            ids.compactMap { known[$0] },
            hasMore: rest.count > shown.count,
            key: shown.last.map { hit in
                let own = ships.keys[hit.row]
                return [.integer(Int64(hit.rank)), .text(own.sortKey), .text(own.id)]
            },
            total: hits.count
        )
    }

    static let selectHits = "\(select) AND ship.id IN (SELECT value FROM json_each(?))"
}
