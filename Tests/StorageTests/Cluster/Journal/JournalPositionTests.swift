import TestKit
import Testing

@testable import Cluster

@Suite struct JournalPositionTests {
    @Test("A snapshot is read from PostgreSQL's text; another text is none")
    func text() {
        #expect(PostgresSnapshot("10:20:10,14,15") == PostgresSnapshot(running: [10, 14, 15]))
        #expect(PostgresSnapshot("10:10:") == PostgresSnapshot(running: []))
        for text in ["", "10", "10:20", "a:b:c", "10:20:x", "10:20:11:12", "10:20:1,,2x"] {
            #expect(PostgresSnapshot(text) == nil, "\(text)")
        }
    }

    @Test("A transaction that was running when later ones were read is fetched once it ends")
    func late() {
        var position = JournalPosition()
        position.advance(from: position, through: 12, in: PostgresSnapshot(running: [9, 11, 14]), isComplete: true)
        #expect(position == JournalPosition(next: 13, open: [9, 11]))
        #expect(position.misses(9) && position.misses(13) && !position.misses(10) && !position.misses(12))
        position.advance(from: position, through: 11, in: PostgresSnapshot(running: []), isComplete: true)
        #expect(position == JournalPosition(next: 13, open: []))
    }

    @Test("The position never passes the last row: numbers above it may be given again after a failover")
    func failover() {
        var position = JournalPosition(next: 13, open: [])
        position.advance(from: position, through: nil, in: PostgresSnapshot(running: [40]), isComplete: true)
        #expect(position == JournalPosition(next: 13, open: []))
    }

    @Test("After a part of the rows, the others are still missed")
    func part() {
        var position = JournalPosition(next: 20, open: [3, 8, 9])
        position.advance(from: position, through: 8, in: PostgresSnapshot(running: [15]), isComplete: false)
        #expect(position == JournalPosition(next: 20, open: [9, 15]))
        position.advance(from: position, through: nil, in: PostgresSnapshot(running: []), isComplete: false)
        #expect(position == JournalPosition(next: 20, open: [9, 15]))
    }

    @Test("A reading that is overtaken by another leaves its position as it is")
    func overtaken() {
        let start = JournalPosition(next: 10, open: [])
        var position = start
        position.advance(from: start, through: 14, in: PostgresSnapshot(running: [12]), isComplete: true)
        position.advance(from: start, through: 11, in: PostgresSnapshot(running: []), isComplete: true)
        #expect(position == JournalPosition(next: 15, open: [12]))
    }

    @Test("A row follows the one before it in its scope, once")
    func follows() throws {
        #expect(try JournalLink(number: 5, previous: 0).follows(0))
        #expect(try JournalLink(number: 9, previous: 5).follows(5))
        #expect(try !JournalLink(number: 9, previous: 5).follows(9))
        #expect(throws: JournalStop.Reason.gap(applied: 2, previous: 5)) {
            try JournalLink(number: 9, previous: 5).follows(2)
        }
        #expect(throws: JournalStop.Reason.diverged(applied: 7, previous: 5)) {
            try JournalLink(number: 9, previous: 5).follows(7)
        }
    }

    @Test("Blocks of rowids are used up in order, and a new one replaces what is left")
    func blocks() throws {
        var blocks = RowIDBlocks()
        #expect(throws: RowIDBlocks.UsedUp(table: "note")) { try blocks.take("note") }
        blocks.add(5..<7, for: "note")
        #expect(try [blocks.take("note"), blocks.take("note")] == [5, 6])
        #expect(throws: RowIDBlocks.UsedUp(table: "note")) { try blocks.take("note") }
        blocks.add(20..<30, for: "note")
        #expect(try blocks.take("note") == 20)
        #expect(throws: RowIDBlocks.UsedUp(table: "person")) { try blocks.take("person") }
    }

    /// A PostgreSQL of plain values: transactions that hold the lock of a scope, end in any order, or not well.
    private struct Model {
        var numbers: Int64 = 100
        /// The scopes of running transactions.
        var running: [Int64: Int] = [:]
        var heads: [Int: Int64] = [:]
        var rows: [(scope: Int, link: JournalLink)] = []

        mutating func step(_ random: inout SeededRandom) {
            let scope = Int.random(in: 0..<6, using: &random)
            if Bool.random(using: &random), !running.values.contains(scope) {
                // Other transactions of the server take numbers, too.
                numbers += Int64.random(in: 1...2, using: &random)
                running[numbers] = scope
            } else if let (number, scope) = running.randomElement(using: &random) {
                running[number] = nil
                guard Int.random(in: 0..<4, using: &random) > 0 else { return }
                rows.append((scope, JournalLink(number: number, previous: heads[scope] ?? 0)))
                heads[scope] = number
            }
        }

        func page(after position: JournalPosition, most: Int) -> Page {
            let missed = rows.filter { position.misses($0.link.number) }.sorted { $0.link.number < $1.link.number }
            return Page(
                start: position,
                rows: Array(missed.prefix(most)),
                snapshot: PostgresSnapshot(running: Array(running.keys)),
                isComplete: missed.count < most
            )
        }
    }

    private struct Page {
        let start: JournalPosition
        let rows: [(scope: Int, link: JournalLink)]
        let snapshot: PostgresSnapshot
        let isComplete: Bool
    }

    /// A server of plain values.
    private struct Reader {
        var position = JournalPosition()
        var applied: [Int: Int64] = [:]
        var count = 0

        mutating func apply(_ page: Page) throws {
            for (scope, link) in page.rows where try link.follows(applied[scope] ?? 0) {
                applied[scope] = link.number
                count += 1
            }
            let last = page.rows.last?.link.number
            position.advance(from: page.start, through: last, in: page.snapshot, isComplete: page.isComplete)
        }
    }

    @Test("Whatever the order of commits and readings, a server applies each row once, in order", arguments: 1...40)
    func everyRowOnce(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var model = Model()
        var reader = Reader()
        // Readings that have fetched a page and have not applied it yet.
        var late: [Page] = []
        for _ in 0..<400 {
            model.step(&random)
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            let page = model.page(after: reader.position, most: Int.random(in: 1...5, using: &random))
            if Bool.random(using: &random) { late.append(page) } else { try reader.apply(page) }
            if Bool.random(using: &random), let page = late.popLast() { try reader.apply(page) }
        }
        var isComplete = false
        while !isComplete {
            let page = model.page(after: reader.position, most: 5)
            try reader.apply(page)
            isComplete = page.isComplete
        }
        #expect(reader.applied == model.heads && reader.count == model.rows.count && reader.count > 50)
    }
}
