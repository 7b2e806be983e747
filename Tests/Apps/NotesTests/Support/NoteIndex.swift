import GRDB
import Storage
import Testing

@testable import Notes

/// The search index of notes, compared with the notes.
enum NoteIndex {
    /// Checks that the index has the terms and words of all notes and no others.
    static func expectExact(in database: LarderDatabase) async throws {
        let (entries, expected, passages, words) = try await database.write { db in
            try db.execute(
                sql: "CREATE VIRTUAL TABLE temp.note_entry USING fts5vocab ('main', 'note_term', 'instance')"
            )
            let entries = try Row.fetchAll(db, sql: "SELECT doc, term FROM temp.note_entry").map {
                "\($0["doc"] as Int64) \($0["term"] as String)"
            }
            try db.execute(sql: "DROP TABLE temp.note_entry")
            var (expected, passages): (Set<String>, Set<Int64>) = ([], [])
            var words: [String: Int] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT * FROM note") {
                let (account, note): (Int64, Note) = (row["account"], try Note(row: row))
                let (rank, found) = (NoteStore.rank(account, note.revision), NoteTerms(note))
                expected.formUnion(found.terms.map { "\(rank) \(String(account, radix: 36))\u{B7}\($0)" })
                for word in NoteTerms.words(of: note) where !word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                    words["\(account) \(word)", default: 0] += 1
                }
                if !found.passages.isEmpty { passages.insert(rank) }
            }
            let stored = try Set(Int64.fetchAll(db, sql: "SELECT rank FROM note_passage"))
            // An earlier version has none.
            guard try db.tableExists("note_word") else { return (entries, expected, stored == passages, true) }
            let rows = try Row.fetchAll(db, sql: "SELECT owner || ' ' || word, rows FROM note_word")
            let counts = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as Int) })
            return (entries, expected, stored == passages, counts == words)
        }
        #expect(entries.count == expected.count && Set(entries) == expected && passages && words)
    }
}
