import Foundation
import GRDB
import Logging
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Plans of the notes' queries")
struct NoteStoreQueryPlanTests {
    private func plan(_ sql: String) throws -> [String] {
        try QueryPlan(sql, in: .temporary(migrations: NoteStore.migrations)).steps
    }

    @Test(
        "A hot query scans no table",
        arguments: [
            NoteStore.selectNote, NoteStore.selectAccount, NoteStore.listedNotes.first,
            NoteStore.trash.first, NoteStore.trash.next, NoteStore.selectTrashed, NoteStore.selectTrashedNote,
            NoteStore.purgeUpTo, NoteStore.selectDue,
            "SELECT coalesce(sum(notes), 0) FROM note_cell WHERE account = ? AND zoom = 0",
        ]
    )
    func noScan(sql: String) throws {
        let plan = try plan(sql)
        #expect(!plan.isEmpty && !plan.contains { $0.contains("SCAN") || $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    @Test("A purge reads no note of the trash that is not due")
    func purge() throws {
        let due = "SEARCH note_trash USING COVERING INDEX note_trash_by_time (account=? AND deleted<?)"
        let steps = try plan(NoteStore.purgeUpTo)
        #expect(steps.contains(due), "\(steps)")
    }

    @Test("NOTE-03 The newest notes come in the order of their index")
    func newest() throws {
        #expect(try plan(NoteStore.listedNotes.first) == ["SEARCH note USING INDEX note_by_revision (account=?)"])
    }

    @Test("NOTE-05 A view is found in the R-tree by all six of its bounds, and clusters by a seek for each column")
    func map() throws {
        // An R-tree names the bounds that it uses: a letter for the kind and a digit for the column of each.
        let tree = try plan(NoteStore.selectWithin)
        #expect(tree.count == 1 && tree[0].hasPrefix("SCAN note_position VIRTUAL TABLE INDEX 2:"))
        let used = tree[0].dropFirst("SCAN note_position VIRTUAL TABLE INDEX 2:".count)
        #expect(used.count == 12, "\(tree)")
        for sql in [NoteStore.selectCells, NoteStore.countCells] {
            let cells = try plan(sql)
            #expect(
                cells.contains("SEARCH note_cell USING PRIMARY KEY (account=? AND zoom=? AND x=? AND y>? AND y<?)"),
                "\(cells)"
            )
        }
    }

    @Test("NOTE-05 A view of a street meets few of the leaves of the R-tree")
    func leaves() throws {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        try ManyNotes.fill(database, notes: 5_000)
        let street = try #require(BoundingBox("13.400,52.500,13.410,52.506"))
        try database.read { db in
            let leaves = """
                SELECT count(*) AS total,
                    sum(west <= \(street.east) AND east >= \(street.west)
                        AND south <= \(street.north) AND north >= \(street.south)) AS met
                FROM (SELECT min(west) AS west, max(east) AS east, min(south) AS south, max(north) AS north
                      FROM note_position_rowid JOIN note_position ON id = rowid GROUP BY nodeno)
                """
            let row = try #require(try Row.fetchOne(db, sql: leaves))
            let (total, met): (Int, Int) = (row["total"], row["met"])
            #expect(total > 100 && met > 0 && met * 20 < total, "\(met) of \(total)")
        }
    }

    @Test("NOTE-05 Positions entered by an earlier version are found by the same view")
    func earlier() throws {
        let (directory, log) = (try DataDirectory.temporary(), Logger(label: "test"))
        let earlier = try LarderDatabase.withCacheTables(
            in: directory,
            migrations: NoteStore.migrations.filter { $0.name < "notes/005" },
            logger: log
        )
        try ManyNotes.fill(earlier, notes: 100, hasTerms: false)
        try earlier.write { try $0.execute(sql: "UPDATE note_position SET account_to = account_from") }
        let before = try earlier.read { try Int64.fetchAll($0, sql: "SELECT id FROM note ORDER BY revision DESC") }
        #expect(before.count == 100)
        try earlier.close()

        let database = try LarderDatabase.withCacheTables(in: directory, migrations: NoteStore.migrations, logger: log)
        let long = try database.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM note_position WHERE account_to = account_from + 0.5")
        }
        #expect(long == 100)
        #expect(try NoteStore(database).map(.world, zoom: nil, account: 1).pins.map(\.id) == before)
    }

    @Test("NOTE-08 NOTE-09 Words are looked up in the index of terms, in its order", arguments: 0...2)
    func search(passages: Int) throws {
        let plan = try plan(NoteStore.selectHits(passages: passages))
        let terms = "SCAN note_term VIRTUAL TABLE INDEX"
        #expect(plan.first.map { $0.hasPrefix(terms) && $0.contains("M") && $0.contains("<") } == true, "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        let others = plan.dropFirst().filter { !$0.contains("SCALAR SUBQUERY") }
        #expect(others.allSatisfy { $0 == "SEARCH note_passage USING INTEGER PRIMARY KEY (rowid=?)" }, "\(plan)")
    }

    @Test("NOTE-09 Notes that were found are read by their revisions, those of a map by their ids")
    func ranked() throws {
        #expect(
            try plan(NoteStore.selectRanked).first
                == "SEARCH note USING INDEX note_by_revision (account=? AND revision=?)"
        )
        #expect(try plan(NoteStore.selectOutlines).first == "SEARCH note USING INTEGER PRIMARY KEY (rowid=?)")
        #expect(
            try plan(NoteStore.listedNotes.next)
                == ["SEARCH note USING INDEX note_by_revision (account=? AND revision<?)"]
        )
    }

    @Test("NOTE-06 People come in the order of their index")
    func people() throws {
        #expect(try plan(NoteStore.listedPeople.first) == ["SCAN notes_person USING INDEX notes_person_by_name"])
        let behind = try plan(NoteStore.listedPeople.next)
        let step = "SEARCH notes_person USING INDEX notes_person_by_name ((sort_first,sort_last)>(?,?))"
        #expect(behind == [step] && !NoteStore.listedPeople.next.contains("OFFSET"))
    }
}
