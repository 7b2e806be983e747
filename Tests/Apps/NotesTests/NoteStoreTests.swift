import Foundation
import GRDB
import HTTPTypes
import Logging
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Notes

@Suite("What an account stores, and its quota")
struct NoteStoreUsageTests {
    private static let place = #"{"lat":37.79,"lon":-122.42,"name":"Ål St"}"#
    private static let full = 3 * NoteStore.bytesBeside

    /// The bytes that are counted of all accounts equal those of their rows.
    private func expectCounted(_ database: LarderDatabase, _ when: String) throws {
        let sums = try database.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    WITH row AS (
                        SELECT account, body, location_name, 0 AS trashed FROM note
                        UNION ALL SELECT account, body, location_name, 1 FROM note_trash
                    )
                    SELECT bytes, trash_bytes, (
                        SELECT coalesce(sum(length(CAST(body || location_name AS BLOB)) + 1024), 0)
                        FROM row WHERE account = notes_account.id
                    ), (
                        SELECT coalesce(sum(length(CAST(body || location_name AS BLOB)) + 1024), 0)
                        FROM row WHERE account = notes_account.id AND trashed
                    ) FROM notes_account
                    """
            ).map { [$0[0], $0[1], $0[2], $0[3]] as [Int] }
        }
        #expect(!sums.isEmpty && sums.allSatisfy { $0[0] == $0[2] && $0[1] == $0[3] }, "\(when): \(sums)")
    }

    @Test("SRV-18 The bytes of an account follow each change of its notes and of its trash, and those of before")
    func counted() async throws {
        try await NotesHarness.run { app in
            let (token, other) = (try await app.register("anna"), try await app.register("bob"))
            let first = try await app.add("Собака", Self.place, as: token)
            let second = try await app.add("second", as: token)
            try await app.add("of another account", as: other)
            try expectCounted(app.database, "added")
            let long = #"{"body":"\#(String(repeating: "я", count: 900))","location":{"lat":1,"lon":2,"name":"N"}}"#
            #expect(try await app.ask(.patch, "/v1/notes/\(first)", as: token, long).status == 200)
            try expectCounted(app.database, "changed")
            for id in [first, second] { #expect(try await app.delete("/v1/notes/\(id)", as: token).status == 200) }
            try expectCounted(app.database, "in the trash")
            _ = try await app.ask(.post, "/v1/notes/trash/\(first)/restore", as: token)
            _ = try await app.delete("/v1/notes/\(first)?permanently=true", as: token)
            try expectCounted(app.database, "restored and deleted for good")
            try await app.database.write { db in
                try db.execute(
                    sql: """
                        DROP TRIGGER note_stored; DROP TRIGGER note_resized; DROP TRIGGER note_unstored;
                        DROP TRIGGER note_trash_stored; DROP TRIGGER note_trash_unstored;
                        ALTER TABLE notes_account DROP COLUMN bytes; ALTER TABLE notes_account DROP COLUMN trash_bytes;
                        """
                )
                try #require(NoteStore.migrations.first { $0.name == "notes/011 usage" }).migrate(db)
            }
            try expectCounted(app.database, "after the migration")
            _ = try await app.delete("/v1/notes/trash", as: token)
            try expectCounted(app.database, "purged")
            let account = try await app.ask(.post, "/v1/notes/account/deletion", as: other, #"{"password":"secret"}"#)
            #expect(account.status == 200)
            try expectCounted(app.database, "an account deleted")
        }
    }

    @Test("SRV-18 An account stores no more than its quota: what adds is 507 and changes nothing, what does not works")
    func quota() async throws {
        try await NotesHarness.run(settings: .notes.with(NotesApp.quota, Self.full)) { app in
            let (token, other) = (try await app.register("anna"), try await app.register("bob"))
            let first = try await app.add("first", as: token)
            try await app.add("second", as: token)
            let before = try await app.get("/v1/notes", as: token)
            let refused = try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#)
            refused.expectProblem("quota-exceeded", 507)
            #expect(refused["href"] == "/v1/usage" && refused["retryable"] == false)
            #expect(refused["dialog.title"] == "No space left")
            let detail = try refused.string("detail")
            #expect(detail.hasPrefix("This account may store 3.1 KB here and has 2.1 KB, so nothing was changed;"))
            #expect(detail.hasSuffix("The server's disk is not the limit."), "nothing is in the trash")
            #expect(try await app.get("/v1/notes", as: token).body == before.body)

            let long = #"{"body":"\#(String(repeating: "x", count: 1100))"}"#
            try await app.ask(.patch, "/v1/notes/\(first)", as: token, long).expectProblem("quota-exceeded", 507)
            #expect(try await app.ask(.patch, "/v1/notes/\(first)", as: token, #"{"body":"1"}"#).status == 200)
            #expect(try await app.ask(.post, "/v1/notes", as: other, #"{"body":"of another"}"#).status == 201)

            // The trash counts until it is emptied.
            #expect(try await app.delete("/v1/notes/\(first)", as: token).status == 200)
            let full = try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#, language: "ru")
            full.expectProblem("quota-exceeded", 507)
            #expect(try full.string("dialog.message").contains("в корзине, её можно очистить"))
            #expect(try await app.delete("/v1/notes/trash", as: token).status == 200)
            #expect(try await app.ask(.post, "/v1/notes", as: token, #"{"body":"third"}"#).status == 201)
            try expectCounted(app.database, "at the end")
        }
    }

    @Test("SRV-18 Above a quota that was made smaller, notes become shorter and go, and none grows")
    func smallerQuota() async throws {
        let directory = try DataDirectory.temporary()
        let long = #"{"body":"\#(String(repeating: "x", count: 2000))"}"#
        let (token, id) = try await withAccount(in: directory, quota: 1 << 20) { app in
            let token = try await app.register()
            return (token, try await app.ask(.post, "/v1/notes", as: token, long).string("data.id"))
        }
        _ = try await withAccount(in: directory, quota: 0) { app in
            let longer = #"{"body":"\#(String(repeating: "x", count: 2001))"}"#
            try await app.ask(.patch, "/v1/notes/\(id)", as: token, longer).expectProblem("quota-exceeded", 507)
            for body in [long, #"{"body":"short"}"#] {
                #expect(try await app.ask(.patch, "/v1/notes/\(id)", as: token, body).status == 200)
            }
            #expect(try await app.delete("/v1/notes/\(id)", as: token).status == 200)
            #expect(try await app.ask(.post, "/v1/notes/trash/\(id)/restore", as: token).status == 200)
            return ("", "")
        }
    }

    private func withAccount(
        in directory: DataDirectory,
        quota: Int,
        _ body: @escaping @Sendable (NotesHarness) async throws -> (String, String)
    ) async throws -> (String, String) {
        let result = Watched(("", ""))
        try await NotesHarness.run(directory: directory, settings: .notes.with(NotesApp.quota, quota)) { app in
            let value = try await body(app)
            result.update { $0 = value }
        }
        return result.value
    }
}

extension NotesHarness {
    fileprivate func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String,
        _ json: String,
        language: String
    ) async throws -> Exchanged {
        try await ask(method, target, as: token, [.acceptLanguage: language], json)
    }
}

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

    @Test("NOTE-05 The place of a cluster is a seek")
    func clusterPlace() throws {
        let steps = try plan(NoteStore.selectCell)
        #expect(steps == ["SEARCH note_cell USING PRIMARY KEY (account=? AND zoom=? AND x=? AND y=?)"])
    }

    @Test("NOTE-05 Notes without a place are counted in an index that has no others, without their rows")
    func unplaced() throws {
        let steps = try plan(NoteStore.selectUnplaced)
        let search = "SEARCH note USING COVERING INDEX note_without_place (account=?"
        #expect(steps.count == 1 && steps[0].hasPrefix(search), "\(steps)")
    }

    @Test("NOTE-05 The last saved note with a place is the first of its index")
    func latestPlaced() throws {
        let steps = try plan(NoteStore.selectLatestPlaced)
        #expect(steps == ["SEARCH note USING INDEX note_with_place (account=?)"])
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
        let long = try database.integer("SELECT count(*) FROM note_position WHERE account_to = account_from + 0.5")
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

@Suite(.timeLimit(.minutes(FaultSteps.areAll ? 30 : 3))) struct NoteStoreFaultTests {
    typealias Write = @Sendable (_ app: NotesHarness, _ token: String, _ id: String) async throws -> Exchanged

    /// Runs a write with every fault.
    ///
    /// - Parameters:
    ///   - kind: The write, for the report.
    ///   - repeated: The status of the second try of a write that was done.
    ///   - prepare: Returns the id of the note that is written.
    private func loop(
        _ kind: String,
        repeated: Int? = nil,
        prepare: @escaping @Sendable (NotesHarness, String) async throws -> String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ write: @escaping Write
    ) async throws {
        let directory = try DataDirectory.temporary()
        let scope = try FaultScope(directory.path)
        let id = Mutex("")
        try await NotesHarness.run(directory: directory) { app, token in
            let loop = FaultLoop(scope, app.database, migrations: NotesHarness.migrations)
            // The response is read behind the commit: on a disk that cannot be read a change may be done and the
            // response fail.
            for (faults, mayBePartial) in [([FaultScope.Fault.fullDisk], false), ([.brokenDisk, .brokenOnce], true)] {
                let count = try await loop.run(
                    mayBePartial: mayBePartial,
                    faults: faults,
                    prepare: {
                        let prepared = try await prepare(app, token)
                        id.withLock { $0 = prepared }
                    },
                    write: {
                        let response = try await write(app, token, id.withLock(\.self))
                        let isDone = response.status < 400 || response.status == repeated
                        guard isDone else { throw Exchanged.Refused(response) }
                    }
                )
                #expect(count > 2, "\(kind): \(count)", sourceLocation: sourceLocation)
                print("faults: note \(kind): \(count)")
            }
            try loop.finish()
        }
    }

    @Sendable private static func nothing(_: NotesHarness, _: String) -> String { "" }

    @Sendable private static func add(_ app: NotesHarness, _ token: String) async throws -> String {
        try await app.add("note \(UUID())", as: token)
    }

    @Sendable private static func trash(_ app: NotesHarness, _ token: String) async throws -> String {
        let id = try await add(app, token)
        _ = try await app.delete("/v1/notes/\(id)", as: token)
        return id
    }

    @Test("TRUST-02 Each system call of adding a note fails")
    func added() async throws {
        try await loop("added", prepare: Self.nothing) { app, token, _ in
            try await app.ask(.post, "/v1/notes", as: token, #"{"body":"\#(UUID())"}"#)
        }
    }

    @Test("TRUST-02 Each system call of changing a note fails")
    func changed() async throws {
        try await loop("changed", prepare: Self.add) { app, token, id in
            try await app.ask(.patch, "/v1/notes/\(id)", as: token, #"{"body":"\#(UUID())"}"#)
        }
    }

    @Test("TRUST-02 Each system call of deleting a note fails")
    func deleted() async throws {
        try await loop("deleted", repeated: 404, prepare: Self.add) { app, token, id in
            try await app.delete("/v1/notes/\(id)", as: token)
        }
    }

    @Test("TRUST-02 Each system call of restoring a note fails")
    func restored() async throws {
        try await loop("restored", prepare: Self.trash) { app, token, id in
            try await app.ask(.post, "/v1/notes/trash/\(id)/restore", as: token)
        }
    }

    @Test("TRUST-02 Each system call of purging a note fails")
    func purged() async throws {
        try await loop("purged", repeated: 404, prepare: Self.trash) { app, token, id in
            try await app.delete("/v1/notes/trash/\(id)", as: token)
        }
    }
}
