import Database
import Foundation
import GRDB
import Synchronization
import TestKit
import Testing

@testable import Upstream

struct OutboxTests {
    private struct Box: OutboxPlace, Codable {
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

    private static let journal = LocalOutboxJournal("letter")
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
        #expect(another.entry("two", of: "me")?.progress.isDoubtful == true)
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
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") } == 0)
    }

    @Test("Memory of a shared journal has a change only after the one before, and nothing older than what it has")
    func following() {
        let outbox = Outbox<Letter>(Self.journal)
        func stored(_ text: String, _ number: Int64) -> OutboxEntry<Letter> {
            var stored = entry(text)
            stored.number = number
            return stored
        }
        func texts() -> [String]? { outbox.queue(of: "me")?.entries.map(\.work.text) }
        #expect(outbox.change(of: "me") == nil)
        #expect(outbox.replace([stored("one", 1)], of: "me", change: 4, seen: nil))
        outbox.follow([.put(stored("two", 2))], of: "me", after: 4, change: 5)
        #expect(texts() == ["one", "two"] && outbox.change(of: "me") == 5)
        #expect(!outbox.replace([stored("one", 1)], of: "me", change: 4, seen: 4), "read before the last change")
        #expect(texts() == ["one", "two"])
        outbox.follow([.remove(stored("one", 1))], of: "me", after: 5, change: 5)
        let structure = outbox.structure(of: "me")
        outbox.follow([.put(stored("four", 4))], of: "me", after: 6, change: 7)
        #expect(outbox.change(of: "me") == nil && texts() == ["two"], "another server has made the sixth")
        #expect(outbox.replace([stored("three", 3), stored("four", 4)], of: "me", change: 7, seen: nil))
        #expect(texts() == ["three", "four"] && outbox.structure(of: "me") > structure)
        outbox.follow([.remove(stored("three", 3))], of: "me", after: 5, change: 6)
        #expect(texts() == ["three", "four"] && outbox.change(of: "me") == 7, "that is in it already")
        #expect(outbox.replace([], of: "me", change: 0, seen: 7) && texts() == nil, "the account was logged out")
    }

    @Test("A pause lets nothing pass, one runs at a time, and the next is known while one ends")
    func turns() {
        func number(_ turn: OutboxTurn<Letter>) -> Int64? {
            if case .run(let entry) = turn { entry.number } else { nil }
        }
        var account = OutboxAccount<Letter>()
        for (number, text) in [(1, "one"), (2, "two")] as [(Int64, String)] {
            var entry = entry(text)
            entry.number = number
            account.apply(.put(entry))
        }
        #expect(number(account.turn(at: noon, after: nil)) == 1 && account.queue.view.changes == 2)
        var one = account.queue.entries[0]
        _ = one.progress.apply(.began, at: noon)
        account.apply(.put(one))
        #expect(number(account.turn(at: noon, after: nil)) == nil)
        #expect(number(account.turn(at: noon, after: "one")) == 2)
        _ = one.progress.apply(.delayed("locked", for: 9), at: noon)
        account.apply(.put(one))
        guard case .wait(let until) = account.turn(at: noon, after: nil) else {
            Issue.record("a pause is no turn")
            return
        }
        #expect(until == noon.addingTimeInterval(9) && number(account.turn(at: until, after: nil)) == 1)
        #expect(account.queue.view.changes == 2, "progress changes nothing of what is derived")
    }

    @Test("What lets others pass has its own time, and is no turn of theirs; a refused one has no effect")
    func passing() {
        func turn(_ account: OutboxAccount<Letter>, after seconds: Double = 0) -> (run: Int64?, wait: Double?) {
            switch account.turn(at: noon.addingTimeInterval(seconds), after: nil) {
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

    @Test("A table that takes any state has the operations, their bytes and numbers of the one before")
    func states() async throws {
        let journal = Self.journal
        let database = try database()
        let outbox = Outbox<Letter>(journal)
        let blob = try database.blobs.write(Data([1, 2, 3]))
        var (one, two) = (entry("one"), entry("two"))
        one.blob = blob
        let (first, second) = (one, two)
        try await database.write { db in
            try database.blobs.insert(blob, in: db)
            try outbox.apply([.put(first), .put(second)], in: db)
        }
        let stored = try #require(outbox.entry("two", of: "me"))
        try await database.write { db in
            try outbox.apply([.remove(stored)], in: db)
            try journal.takeAnyState(db)
        }
        two = entry("three")
        one = try #require(outbox.entry("one", of: "me"))
        _ = one.progress.apply(.began, at: noon)
        _ = one.progress.apply(.accepted(askedAfter: 1), at: noon)
        let (following, added) = (one, two)
        _ = try await database.write { try outbox.apply([.put(following), .put(added)], in: $0) }
        let another = Outbox<Letter>(journal)
        try database.read { try another.load(at: noon, $0) }
        let found = try #require(another.queue(of: "me"))
        #expect(found.entries.map(\.number) == [1, 3], "no number is given twice")
        #expect(found.entries.first?.progress == following.progress && found.bytes == 3)
        _ = try await database.write { try outbox.apply([.remove(following)], in: $0) }
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM blob") } == 0)
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
        for _ in 0..<10_000 { outbox.tell("me") }
        // Places in the stack: each function in between takes some bytes of it.
        #expect(Set(places.withLock { $0 }).count == 1)
    }
}
