import Foundation
import GRDB
import Storage
import Synchronization
import TestKit
import Testing

@testable import Upstream

struct OutboxTests {
    private struct Box: OutboxPath, Codable {
        var number = 0
        var above: [Box] { [] }
    }

    private struct Letter: OutboxWork {
        struct View: OutboxView {
            private(set) var changes = 0

            mutating func follow(_ change: OutboxStep<Letter>) { changes += 1 }
        }

        var text: String
        var box = Box()
        var places: [Box] { [box] }
        func folding(_ earlier: Letter) -> OutboxFold<Letter> { .stop }
    }

    private struct Failure: Error {}

    private static let journal = OutboxJournal("letter")
    private let noon = Date(timeIntervalSince1970: 1_767_700_000)

    private func entry(_ text: String, at box: Int = 0) -> OutboxEntry<Letter> {
        OutboxEntry(id: text, account: "me", work: Letter(text: text, box: Box(number: box)), queuedAt: noon)
    }

    private func database() throws -> LarderDatabase {
        try .temporary(migrations: [SchemaMigration("letter/001", sql: Self.journal.creation)])
    }

    @Test("Memory follows commits in order; what is rolled back is nowhere; a new process reads what was committed")
    func commits() async throws {
        let database = try database()
        let outbox = Outbox<Letter>(Self.journal)
        for text in ["one", "two", "three"] {
            let entry = entry(text)
            _ = try await database.write { try outbox.apply([.put(entry)], in: $0) }
        }
        let lost = entry("lost")
        await #expect(throws: Failure.self) {
            try await database.write { db in
                try outbox.apply([.put(lost)], in: db)
                throw Failure()
            }
        }
        #expect(outbox.queue(of: "me")?.entries.map(\.work.text) == ["one", "two", "three"])
        let two = try #require(outbox.entry("two", of: "me"))
        let noon = noon
        try await database.write { db in
            var running = two
            _ = running.progress.apply(.began, at: noon)
            try outbox.apply([.put(running)], in: db)
        }
        let another = Outbox<Letter>(Self.journal)
        try database.read { try another.load(at: noon, $0) }
        let found = try #require(another.queue(of: "me"))
        #expect(found.entries.map(\.work.text) == ["one", "two", "three"])
        #expect(another.entry("two", of: "me")?.progress.isOutcomeUnknown == true)
    }

    @Test("OUT-09 The load counts what waits in all accounts; the counts after changes are those that they lead to")
    func load() async throws {
        let database = try database()
        let outbox = Outbox<Letter>(Self.journal)
        #expect(outbox.load == OutboxLoad(waiting: 0, undecided: 0, oldest: nil))
        let (noon, others) = (
            noon,
            OutboxEntry(
                id: "other",
                account: "other",
                work: Letter(text: "other"),
                queuedAt: noon.addingTimeInterval(-60)
            )
        )
        let steps: [[OutboxChange<Letter>]] = [
            [.put(entry("one")), .put(entry("two", at: 1)), .put(entry("three", at: 2))], [.put(others)],
        ]
        for changes in steps { _ = try await database.write { try outbox.apply(changes, in: $0) } }
        #expect(outbox.load == OutboxLoad(waiting: 4, undecided: 0, oldest: noon.addingTimeInterval(-60)))
        let queue = try #require(outbox.queue(of: "me"))
        let changes = queue.entries.enumerated().map { index, entry -> OutboxChange<Letter> in
            var entry = entry
            _ = entry.progress.apply(.began, at: noon)
            _ = entry.progress.apply(index == 0 ? .succeeded : .refused("no"), at: noon)
            return index == 2 ? .remove(entry) : .put(entry)
        }
        let more = changes + [.put(entry("four"))]
        let counts = queue.counts(after: more)
        #expect(counts.all == 2 && counts.undecided == 1)
        _ = try await database.write { try outbox.apply(more, in: $0) }
        #expect(outbox.load == OutboxLoad(waiting: 3, undecided: 1, oldest: noon.addingTimeInterval(-60)))
        #expect(outbox.queue(of: "me")?.entries.count == counts.all)
    }

    @Test("What is done leaves the queue and its bytes, and can still be asked for; the blob goes with its row")
    func done() async throws {
        let database = try database()
        let outbox = Outbox<Letter>(Self.journal)
        let blob = try database.blobs.write(Data([1, 2, 3]))
        var entry = entry("one")
        entry.blob = blob
        let (queued, noon) = (entry, noon)
        try await database.write { db in
            try database.blobs.insert(blob, in: db)
            try outbox.apply([.put(queued)], in: db)
        }
        #expect(outbox.queue(of: "me")?.bytes == 3)
        let stored = try #require(outbox.entry("one", of: "me"))
        try await database.write { db in
            var entry = stored
            _ = entry.progress.apply(.began, at: noon)
            _ = entry.progress.apply(.succeeded, at: noon)
            try outbox.apply([.put(entry)], in: db)
        }
        #expect(outbox.queue(of: "me") == nil && outbox.accounts.isEmpty)
        let finished = try database.read { try outbox.finished("one", account: "me", $0) }
        #expect(finished?.progress.state == .done)
        #expect(try database.integer("SELECT count(*) FROM blob") == 0)
    }

    /// The outbox of a server that has read two entries of another one.
    private struct Followed {
        let database: LarderDatabase
        let other = Outbox<Letter>(OutboxTests.journal)
        let outbox = Outbox<Letter>(OutboxTests.journal)

        var texts: [String]? { outbox.queue(of: "me")?.entries.map { "\($0.number) \($0.work.text)" } }

        func note(_ numbers: Int64...) { outbox.note(numbers.map { ["me".databaseValue, $0.databaseValue] }) }

        func follow() throws -> Bool { try outbox.follow("me") { try database.read($0) } }
    }

    @Test("Memory follows rows that another server has changed once they are read")
    func followed() async throws {
        let followed = Followed(database: try database())
        let (one, two, outbox) = (entry("one"), entry("two"), followed.outbox)
        _ = try await followed.database.write { try followed.other.apply([.put(one), .put(two)], in: $0) }
        #expect(try !followed.follow(), "it knows of nothing")
        followed.note(1, 2)
        #expect(outbox.isBehind("me") && outbox.accountsBehind == ["me"] && followed.texts == nil)
        #expect(outbox.accounts.isEmpty)
        #expect(throws: Failure.self) { try outbox.follow("me") { _ in throw Failure() } }
        #expect(outbox.isBehind("me") && followed.texts == nil)
        #expect(try followed.follow())
        #expect(!outbox.isBehind("me") && followed.texts == ["1 one", "2 two"])
        followed.note(1)
        _ = try outbox.follow("me") { read in
            #expect(outbox.isBehind("me"), "whoever needs the rows meanwhile waits for them")
            try followed.database.read(read)
        }
    }

    @Test("Memory follows rows that another server has removed or ended, also if a number is given again")
    func followedRemovals() async throws {
        let followed = Followed(database: try database())
        let (database, other, outbox) = (followed.database, followed.other, followed.outbox)
        let (one, two, three, noon) = (entry("one"), entry("two"), entry("three"), noon)
        _ = try await database.write { try other.apply([.put(one), .put(two)], in: $0) }
        followed.note(1, 2)
        #expect(try followed.follow())
        let stored = try #require(other.entry("two", of: "me"))
        _ = try await database.write { try other.apply([.remove(stored), .put(three)], in: $0) }
        followed.note(2)
        #expect(try followed.follow())
        #expect(followed.texts == ["1 one", "2 three"] && outbox.entry("two", of: "me") == nil)
        var done = try #require(other.entry("one", of: "me"))
        _ = done.progress.apply(.began, at: noon)
        _ = done.progress.apply(.succeeded, at: noon)
        let ended = done
        try await database.write { db in
            try other.apply([.put(ended)], in: db)
            try other.removeAll(of: "you", in: db)
        }
        followed.note(1)
        try database.read { try outbox.load(at: nil, $0) }
        #expect(outbox.isBehind("me"), "what was noted before the start is read as well")
        #expect(try followed.follow())
        #expect(followed.texts == ["2 three"])
        try await database.write { try other.removeAll(of: "me", in: $0) }
        followed.note(1, 2)
        #expect(try followed.follow())
        #expect(followed.texts == nil && outbox.entry("three", of: "me") == nil)
    }

    @Test("A pause lets nothing pass, one runs at a time, and the next is known while one ends")
    func turns() {
        func number(_ turn: OutboxNext<Letter>) -> Int64? {
            if case .run(let entry) = turn { entry.number } else { nil }
        }
        var account = OutboxAccount<Letter>()
        for (number, text) in [(1, "one"), (2, "two")] as [(Int64, String)] {
            var entry = entry(text)
            entry.number = number
            account.apply(.put(entry))
        }
        #expect(number(account.next(at: noon, after: nil)) == 1 && account.queue.view.changes == 2)
        var one = account.queue.entries[0]
        _ = one.progress.apply(.began, at: noon)
        account.apply(.put(one))
        #expect(number(account.next(at: noon, after: nil)) == nil)
        #expect(number(account.next(at: noon, after: "one")) == 2)
        _ = one.progress.apply(.delayed("locked", for: 9), at: noon)
        account.apply(.put(one))
        guard case .wait(let until) = account.next(at: noon, after: nil) else {
            Issue.record("a pause is no turn")
            return
        }
        #expect(until == noon.addingTimeInterval(9) && number(account.next(at: until, after: nil)) == 1)
        #expect(account.queue.view.changes == 2, "progress changes nothing of what is derived")
    }

    @Test("What lets others pass has its own time, and is no turn of theirs; a refused one has no effect")
    func passing() {
        func turn(_ account: OutboxAccount<Letter>, after seconds: Double = 0) -> (run: Int64?, wait: Double?) {
            switch account.next(at: noon.addingTimeInterval(seconds), after: nil) {
            case .run(let entry): (entry.number, nil)
            case .wait(let date): (nil, date.timeIntervalSince(noon))
            case .none: (nil, nil)
            }
        }
        var account = OutboxAccount<Letter>()
        var one = entry("one", at: 1)
        one.number = 1
        _ = one.progress.apply(.began, at: noon)
        _ = one.progress.apply(.accepted(askedAfter: 5), at: noon)
        account.apply(.put(one))
        #expect(turn(account).wait == 5 && turn(account, after: 5).run == 1)
        var (two, three) = (entry("two", at: 1), entry("three", at: 2))
        (two.number, three.number) = (2, 3)
        account.apply(.put(two))
        account.apply(.put(three))
        #expect(turn(account).run == 3, "the second one is held up by the first one")
        #expect(turn(account, after: 5).run == 1, "its time has come")
        _ = three.progress.apply(.began, at: noon)
        _ = three.progress.apply(.delayed("later", for: 60), at: noon)
        account.apply(.put(three))
        #expect(turn(account).wait == 5 && turn(account, after: 5).run == 1)
        #expect(account.queue.undecided == 0 && account.queue.view.changes == 3)
        _ = one.progress.apply(.began, at: noon)
        _ = one.progress.apply(.refused("forbidden"), at: noon)
        account.apply(.put(one))
        #expect(turn(account).wait == 60 && account.queue.undecided == 1)
        #expect(account.queue.view.changes == 5, "neither the first one nor what it holds up has an effect")
        account.apply(.remove(one))
        #expect(turn(account).run == 2 && account.queue.undecided == 0 && account.queue.view.changes == 6)
    }

    @Test("The table of an earlier build is made anew with its operations and their bytes")
    func renewed() async throws {
        let journal = Self.journal
        // As it was: numbers of all accounts together, fewer states, and a foreign key.
        let earlier = """
            CREATE TABLE letter (
                number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, account TEXT NOT NULL,
                work TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done')),
                attempts INTEGER NOT NULL, doubtful INTEGER NOT NULL, reason TEXT, due_at INTEGER,
                queued_at INTEGER NOT NULL, blob_id INTEGER REFERENCES blob (id), length INTEGER
            ) STRICT;
            CREATE TRIGGER letter_deleted AFTER DELETE ON letter WHEN old.blob_id IS NOT NULL BEGIN
                DELETE FROM blob WHERE id = old.blob_id;
            END;
            """
        let database = try LarderDatabase.temporary(migrations: [SchemaMigration("letter/001", sql: earlier)])
        let blob = try database.blobs.write(Data([1, 2, 3]))
        let rows = [("one", "me", blob.id), ("other", "you", nil), ("two", "me", nil)] as [(String, String, BlobID?)]
        let work = String(decoding: try JSONEncoder().encode(Letter(text: "x")), as: UTF8.self)
        try await database.write { db in
            try database.blobs.insert(blob, in: db)
            for (id, account, blob) in rows {
                try db.execute(
                    sql: "INSERT INTO letter VALUES (NULL, ?, ?, ?, 'queued', 0, 0, NULL, NULL, 0, ?, ?)",
                    arguments: [id, account, work, blob, blob == nil ? nil : 3]
                )
            }
            for _ in 0..<2 { try journal.renew(db) }
        }
        let outbox = Outbox<Letter>(journal)
        try database.read { try outbox.load(at: noon, $0) }
        #expect(outbox.queue(of: "me")?.entries.map(\.number) == [1, 3] && outbox.queue(of: "me")?.bytes == 3)
        #expect(outbox.queue(of: "you")?.entries.map(\.number) == [2])
        let (mine, yours) = (
            entry("three"), OutboxEntry(id: "a", account: "you", work: Letter(text: "a"), queuedAt: noon)
        )
        let put = try await database.write { try outbox.apply([.put(mine), .put(yours)], in: $0) }
        #expect(put.map(\.number) == [4, 3], "by account")
        var one = try #require(outbox.entry("one", of: "me"))
        _ = one.progress.apply(.began, at: noon)
        _ = one.progress.apply(.accepted(askedAfter: 1), at: noon)
        let following = one
        #expect(try await database.write { try outbox.apply([.put(following)], in: $0) }.first?.number == 1)
        #expect(outbox.entry("one", of: "me")?.progress == following.progress)
        _ = try await database.write { try outbox.apply([.remove(following)], in: $0) }
        #expect(try database.integer("SELECT count(*) FROM blob") == 0)
    }

    @Test("A long outbox is removed in parts, from its end")
    func shortened() async throws {
        let database = try database()
        let outbox = Outbox<Letter>(Self.journal)
        let entries = (0..<12).map { OutboxChange.put(entry("\($0)")) }
        _ = try await database.write { try outbox.apply(entries, in: $0) }
        var left: [Int] = []
        for _ in 0..<4 {
            let hasRemoved = try await database.write { try Self.journal.shorten(of: "me", to: 5, by: 3, $0) }
            if !hasRemoved { break }
            left.append(try database.integer("SELECT max(number) FROM letter") ?? 0)
        }
        #expect(left == [9, 6, 5])
    }

    @Test("OUT-11 who is notified of a change is called as directly after ten thousand changes as after the first")
    func notification() {
        let outbox = Outbox<Letter>(Self.journal)
        let places = Mutex<[UInt]>([])
        outbox.listen { _ in
            var here = 0
            let place = withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
            places.withLock { $0.append(place) }
        }
        for _ in 0..<10_000 { outbox.notify("me") }
        // Places in the stack: each function in between takes some bytes of it.
        #expect(Set(places.withLock { $0 }).count == 1)
    }
}
