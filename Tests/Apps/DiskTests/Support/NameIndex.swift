import GRDB
import Storage
import Testing

@testable import Disk

/// The index of names, compared with the rows.
enum NameIndex {
    /// Checks that the index has the terms and words of all rows but those of the trash, and no others.
    static func expectExact(in database: LarderDatabase) async throws {
        let (entries, expected, unranked, words) = try await database.write { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE temp.disk_entry USING fts5vocab ('main', 'disk_term', 'instance')"
            )
            let entries = try Row.fetchAll(db, sql: "SELECT doc, term FROM temp.disk_entry").map {
                "\($0["doc"] as Int64) \($0["term"] as String)"
            }
            try db.execute(sql: "DROP TABLE temp.disk_entry")
            var (expected, unranked): (Set<String>, [String]) = ([], [])
            var words: [String: Int] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT account, path, name, folded, rank FROM disk_item") {
                let (account, path, name): (String, String, String) = (row["account"], row["path"], row["name"])
                let folded: String = row["folded"]
                let owner = String(DiskStore.owner(ofTerms: account), radix: 36)
                if let rank = row["rank"] as Int64?, folded == name.searchFolded {
                    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
                    for word in StoredWords.words(of: folded) where !word.utf8.allSatisfy(digits.contains) {
                        words["\(DiskStore.owner(ofTerms: account)) \(word)", default: 0] += 1
                    }
                    expected.formUnion(SearchTerms.parts(of: folded).map { "\(rank) \(owner)\u{B7}\($0)" })
                } else if !path.hasPrefix("trash:") {
                    unranked.append(path)
                }
            }
            // An earlier version has none.
            guard try db.tableExists("disk_word") else { return (entries, expected, unranked, true) }
            let rows = try Row.fetchAll(db, sql: "SELECT owner || ' ' || word, rows FROM disk_word")
            let stored = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as Int) })
            return (entries, expected, unranked, stored == words)
        }
        #expect(entries.count == expected.count && Set(entries) == expected && unranked == [] && words)
    }
}
