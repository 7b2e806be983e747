import Cluster
import Foundation
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

/// The behaviour of notes of a server by itself, and of one of several.
@Suite("Notes of one server and of several")
struct NoteBookTests {
    private let epoch = Date(timeIntervalSince1970: 1_000_000)

    private func register(_ name: String, in book: NoteStore) async throws -> NoteAccount? {
        let hash = PasswordHash(salt: Data([1]), cost: .scrypt(logarithm: 2), digest: Data(name.utf8))
        return try await book.register(try UserName(name), hash, now: epoch)
    }

    private func add(_ body: String, at place: Note.Location = .unknown, _ account: Int64, in book: NoteStore)
        async throws -> Note
    {
        try await book.add(body, at: place, preconditions: .none, quota: .unlimited, account: account, now: epoch)
    }

    private func change(_ id: Int64, _ body: String?, to place: Note.Location?, _ account: Int64, in book: NoteStore)
        async throws -> Note?
    {
        try await book.change(
            id,
            body: body,
            location: place,
            preconditions: .none,
            quota: .unlimited,
            account: account,
            now: epoch
        )
    }

    @Test("NOTE-01 A name is registered once, however it is written", arguments: StoreKind.allCases)
    func names(kind: StoreKind) async throws {
        let book = try await kind.notes()
        let bob = try #require(try await register("Bob", in: book))
        #expect(try await register("bOB", in: book) == nil)
        #expect(try book.account(try UserName("BOB")) == bob)
        #expect(try book.account(bob.id) == bob)
        #expect(try book.isTaken(try UserName("bob")))
        #expect(try book.account(try UserName("eve")) == nil)
        let other = PasswordHash(salt: Data([2]), cost: .scrypt(logarithm: 3), digest: Data([3]))
        #expect(try await book.rehash(bob.password, by: other, of: bob.id))
        #expect(try await !book.rehash(bob.password, by: other, of: bob.id), "it was changed meanwhile")
        #expect(try book.account(bob.id)?.password == other)
    }

    private static let vocabulary = [
        "Straße", "strasse", "ёлка", "北京大学", "大学", "カタカナ", "แมว", "김치찌개", "🎉", "👍🏽", "👩‍👧", "C++", "dog", "dogs",
        "Δώρος", "12.50", "foo@bar.com", "e\u{301}te\u{301}", "Donaudampfschifffahrtsgesellschaftskapitän",
    ]

    /// Adds, changes and deletes notes of the accounts by chance.
    private func write(in book: NoteStore, _ accounts: [Int64], _ chance: inout SeededRandom) async throws {
        let words = Self.vocabulary
        var notes: [Int64: [Int64]] = [:]
        for _ in 0..<40 {
            let account = accounts[Int.random(in: 0...1, using: &chance)]
            let body = (0...Int.random(in: 0...3, using: &chance)).map { _ in
                words[Int.random(in: 0..<words.count, using: &chance)]
            }.joined(separator: " ")
            let name = words[Int.random(in: 0..<words.count, using: &chance)]
            let place = Note.Location(coordinate: .zero, name: name)
            switch (Int.random(in: 0..<4, using: &chance), notes[account]?.first) {
            case (0, let id?):
                #expect(try await book.delete(id, toTrashAt: nil, preconditions: .none, account: account) != nil)
                notes[account]?.removeFirst()
            case (1, let id?): #expect(try await change(id, body, to: nil, account, in: book)?.body == body)
            default: notes[account, default: []].append(try await add(body, at: place, account, in: book).id)
            }
        }
    }

    @Test("SCALE-17 A search finds the same on both stores, whatever is added, changed and deleted", arguments: 1...3)
    func search(seed: Int) async throws {
        let more = ["dog eve", "大学 🎉", "ёл", "찌개", "👍", "👧", "c", "bar", "org", "50", "5", "grusse", ""]
        var pages: [[String]] = []
        for kind in StoreKind.allCases {
            var chance = SeededRandom(seed: UInt64(seed))
            let book = try await kind.notes()
            let accounts = try await ["bob", "eve"].asyncMap { try #require(try await register($0, in: book)).id }
            try await write(in: book, accounts, &chance)
            var found: [String] = []
            for account in accounts {
                for question in Self.vocabulary + more {
                    let query = NoteQuery(question)
                    let page = try book.list(account: account, page: .init(limit: 5), search: query).page
                    found.append("\(question): \(page.rows.map(\.opening)) of \(page.total ?? -1), \(page.hasMore)")
                    let places = try book.places(WordQuery(question), account: account, limit: 5)
                    found.append("\(question): \(places.map(\.name))")
                }
            }
            pages.append(found)
        }
        #expect(pages[0] == pages[1])
        #expect(pages[0].count { !$0.contains("[]") } > 10, "so many questions found something")
    }

    @Test("NOTE-05 Pins and clusters are the same on both stores, through additions, moves and deletions")
    func map() async throws {
        var maps: [[String]] = []
        for kind in StoreKind.allCases {
            var chance = SeededRandom(seed: 7)
            let book = try await kind.notes()
            let account = try #require(try await register("bob", in: book)).id
            var ids: [Int64] = []
            for step in 0..<60 {
                let point = Coordinate(
                    latitude: Double.random(in: -90...90, using: &chance),
                    longitude: Double.random(in: -180...180, using: &chance)
                )
                let place = Note.Location(coordinate: try #require(point), name: "x")
                switch step % 4 {
                case 2: _ = try await change(ids[0], nil, to: place, account, in: book)
                case 3:
                    let id = ids.removeLast()
                    #expect(try await book.delete(id, toTrashAt: nil, preconditions: .none, account: account) != nil)
                default: ids.append(try await add("n", at: place, account, in: book).id)
                }
            }
            var found: [String] = []
            for zoom in [nil, 0, 3, 6, 14] {
                let map = try book.map(.world, zoom: zoom, account: account)
                let clusters = map.clusters.sorted { ($0.cell.x, $0.cell.y) < ($1.cell.x, $1.cell.y) }
                #expect(map.total == ids.count)
                found.append("\(map.pins.map(\.location)) \(clusters) \(map.zoom ?? -1) \(map.revision)")
            }
            maps.append(found)
        }
        #expect(maps[0] == maps[1])
    }

    @Test("NOTE-13 Trash, pages, versions and usage", arguments: StoreKind.allCases)
    func trash(kind: StoreKind) async throws {
        let book = try await kind.notes()
        let bob = try #require(try await register("bob", in: book))
        let (first, second) = (
            try await add("first", bob.id, in: book), try await add("second", bob.id, in: book)
        )
        #expect(first.revision == 1 && second.revision == 2)
        #expect(try await change(first.id, "first again", to: nil, bob.id, in: book)?.revision == 3)
        let list = try book.list(account: bob.id, page: .init(limit: 1), search: nil).page
        #expect(list.rows.map(\.opening) == ["first again"] && list.hasMore && list.total == 2)
        #expect(list.key == [.integer(3)])
        #expect(try await book.delete(first.id, toTrashAt: epoch, preconditions: .none, account: bob.id) != nil)
        #expect(try book.note(first.id, account: bob.id) == nil)
        let (trash, revision) = try book.trash(account: bob.id, page: .init(limit: 10))
        #expect(trash.rows.map(\.item.opening) == ["first again"] && trash.total == 1 && revision == 4)
        let restored = try await book.restore(first.id, preconditions: .none, account: bob.id)
        #expect(restored?.note.body == "first again" && restored?.note.id == first.id && restored?.revision == 5)
        #expect(try book.note(first.id, account: bob.id)?.revision == 3)
        for note in [first, second] {
            #expect(try await book.delete(note.id, toTrashAt: epoch, preconditions: .none, account: bob.id) != nil)
        }
        #expect(try await book.purge(second.id, preconditions: .none, account: bob.id) == 8)
        let emptied = try await book.purgeTrash(.max, upTo: .distantFuture, account: bob.id)
        #expect(emptied.count == 1 && emptied.revision == 9)
        #expect(try book.users.read { try NoteStore.revision(bob.id, $0) } == 9)
        let third = try await add("third", bob.id, in: book)
        #expect(try await book.delete(third.id, toTrashAt: epoch, preconditions: .none, account: bob.id) != nil)
        let later = epoch.addingTimeInterval(1)
        #expect(try await book.account(ofTrashUpTo: later) == bob.id)
        let purged = try await book.purgeTrash(.max, upTo: later, account: bob.id)
        #expect(purged.count == 1 && purged.revision == 12)
        #expect(try await book.account(ofTrashUpTo: later) == nil)
    }

    @Test("SCALE-15 Of many changes with one version one is made; those without one are made one after the other")
    func versions() async throws {
        let book = try await StoreKind.postgresql.notes()
        let bob = try #require(try await register("bob", in: book)).id
        let note = try await add("text", bob, in: book)
        try await (0..<20).concurrentMap { number in
            let changed = try await change(note.id, "\(number)", to: nil, bob, in: book)
            #expect(changed != nil)
        }
        #expect(try book.users.read { try NoteStore.revision(bob, $0) } == 21)
        #expect(try book.note(note.id, account: bob)?.revision == 21)
    }

    @Test("SCALE-05 Of many registrations of one name one succeeds")
    func registrations() async throws {
        let book = try await StoreKind.postgresql.notes()
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for name in ["bob", "Bob", "BOB", "boB", "bOb"] {
                group.addTask { try await register(name, in: book) != nil }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 1)
    }

    @Test("SCALE-12 Wrong passwords are counted together, wherever they were tried")
    func attempts() async throws {
        let access = try await ClusterAccess.temporary()
        let limits = LoginAttempts.Limits(perAccount: 10, perAddress: 100, window: .seconds(900))
        let nodes = try [access.noteStore(), access.noteStore()].map { LoginLimits($0.users, limits) }
        for attempt in 0..<10 {
            let decision = try await nodes[attempt % 2].begin(account: "bob", address: "10.0.0.1", now: epoch)
            #expect(decision == .allowed)
        }
        for node in nodes {
            let decision = try await node.begin(account: "bob", address: "10.0.0.1", now: epoch)
            #expect(decision == .refused(retryAfter: 90))
        }
        try await nodes[0].succeeded(account: "bob", address: "10.0.0.1")
        #expect(try await nodes[1].begin(account: "bob", address: "10.0.0.1", now: epoch) == .allowed)
    }
}
