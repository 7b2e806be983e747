import Foundation
import GRDB
import HTTP
import HTTPTypes
import Logging
import Screens
import Storage
import Synchronization
import TestKit
import Testing

@testable import Notes

@Suite("Search in notes")
struct NoteStoreSearchTests {
    private func found(_ question: String, among bodies: [String]) async throws -> [String] {
        let box = Box()
        try await NotesHarness.run { app, token in
            for body in bodies { try await app.add(body, as: token) }
            let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let response = try await app.get("/v1/notes?q=\(query)", as: token)
            try #require(response.status == 200)
            box.lines.withLock { $0 = Self.texts(response.all("first_line", in: "data.items")) }
        }
        return box.lines.withLock { $0 }
    }

    private static func texts(_ values: [JSON]) -> [String] {
        var texts: [String] = []
        for case .string(let text) in values { texts.append(text) }
        return texts
    }

    private final class Box: Sendable { let lines = Mutex<[String]>([]) }

    @Test(
        "NOTE-09 All words must occur, the last as a beginning, in any case, with accents or without, in any script",
        arguments: [
            ("dog", ["dogs bark", "a dog outside"]), ("dog out", ["a dog outside"]), ("outside DOG", ["a dog outside"]),
            ("do", ["dogs bark", "a dog outside"]),
            ("og", []), ("cafe", ["Café Zürich"]), ("CAFÉ zu", ["Café Zürich"]), ("соба", ["Собака на улице"]),
            ("елка", ["ёлка", "елка"]), ("ЁЛ", ["ёлка", "елка"]), ("猫", ["猫"]), ("zurich x", []), ("ёлка x", []),
        ]
    )
    func words(question: String, expected: [String]) async throws {
        let bodies = ["a dog outside", "dogs bark", "Café Zürich", "Собака на улице", "елка", "ёлка", "猫"]
        #expect(try await found(question, among: bodies) == expected)
    }

    @Test(
        "NOTE-09 No text of a search is FTS5 syntax",
        arguments: [
            "\"", "'", "dog\"", "dog OR bark NOT x", "body:dog", "account:2", "dog*", "(dog", "NEAR(dog bark)",
            "{body}:dog", "^dog", "-dog", "dog AND", ";--",
            "\u{0}", "\\",
        ]
    )
    func syntax(question: String) async throws {
        let lines = try await found(question, among: ["a dog outside"])
        #expect(lines == [] || lines == ["a dog outside"])
    }

    @Test(
        "NOTE-09 Words of scripts without spaces are found anywhere in text and place, also together with others",
        arguments: [
            ("東京", ["Ramen 東京, iPhone手机", "今日は東京でラーメンを食べた"]), ("ラーメン", ["今日は東京でラーメンを食べた"]), ("ram 東京", []),
            ("ramen 東京", ["Ramen 東京, iPhone手机"]),
            ("東京 食べ", ["今日は東京でラーメンを食べた"]), ("手机 RAM", ["Ramen 東京, iPhone手机"]), ("IPHONE手", ["Ramen 東京, iPhone手机"]),
            ("แมว", ["ฉันเลี้ยงแมวสองตัว"]),
            ("北京", []), ("%京", ["Ramen 東京, iPhone手机", "今日は東京でラーメンを食べた"]),
        ]
    )
    func unspaced(question: String, expected: [String]) async throws {
        #expect(
            try await found(question, among: ["今日は東京でラーメンを食べた", "ฉันเลี้ยงแมวสองตัว", "Ramen 東京, iPhone手机", "a dog"])
                == expected
        )
    }

    @Test(
        "NOTE-09 Emoji are words, with or without their variation selectors, and are found anywhere in a text",
        arguments: [
            ("🎉", ["Party🎉 tonight 🎉"]), ("🎃", []), ("🎃 tonight", []), ("tonight 🎃", []),
            ("🎉 tonight", ["Party🎉 tonight 🎉"]), ("tonight🎉", ["Party🎉 tonight 🎉"]), ("🎉 to", ["Party🎉 tonight 🎉"]),
            ("❤", ["❤️ of mine"]), ("❤️", ["❤️ of mine"]), ("❤️ mi", ["❤️ of mine"]), ("👩‍👧", ["👩‍👧 and 🇩🇪"]),
            ("👩‍👦", []),
            ("🇩🇪", ["👩‍👧 and 🇩🇪"]), ("🇫🇷", []), ("👍", ["👍🏽"]), ("\u{FE0F}", []),
        ]
    )
    func emoji(question: String, expected: [String]) async throws {
        #expect(try await found(question, among: ["Party🎉 tonight 🎉", "❤️ of mine", "👩‍👧 and 🇩🇪", "👍🏽"]) == expected)
    }

    @Test("NOTE-09 Such a search keeps to the account, counts and pages")
    func unspacedPages() async throws {
        try await NotesHarness.run { app in
            let (token, other) = (try await app.register(), try await app.register("eve"))
            for _ in 1...3 { try await app.add("我的猫", #"{"lat":1,"lon":1,"name":"动物园"}"#, as: token) }
            let query = "物".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let page = try await app.get("/v1/notes?q=\(query)&limit=2&offset=1", as: token)
            #expect(
                page.all("id", in: "data.items") == ["n2", "n1"] && page["meta.page.total"] == 3
                    && page["meta.page.has_more"] == false
            )
            #expect(try await app.get("/v1/notes?q=\(query)", as: other)["meta.page.total"] == 0)
        }
    }

    @Test("NOTE-09 A search without a match is empty in words of its own, and one of nothing shows everything")
    func empty() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("a dog", as: token)
            let none = try await app.get("/v1/notes?q=cat", as: token)
            #expect(
                none["meta.state"] == "empty" && none["data.empty.title"] == "No Matching Notes"
                    && none["meta.page.total"] == 0
            )
            #expect(try await app.get("/v1/notes?q=%21%21", as: token)["meta.page.total"] == 0)
            #expect(try await app.get("/v1/notes?q=", as: token)["meta.page.total"] == 1)
            #expect(try await app.get("/v1/notes?q=%20", as: token)["meta.page.total"] == 1)
        }
    }

    @Test("NOTE-09 The index follows every change and every deletion, places included")
    func follows() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("alpha", #"{"lat":1,"lon":1,"name":"Harbour"}"#, as: token)
            let count = { (word: String) in try await app.get("/v1/notes?q=\(word)", as: token)["meta.page.total"] }
            #expect(try await count("alpha") == 1)
            #expect(try await count("harbour") == 1)
            _ = try await app.ask(.patch, "/v1/notes/\(note)", as: token, #"{"body":"beta"}"#)
            #expect(try await count("alpha") == 0)
            #expect(try await count("beta") == 1)
            #expect(try await count("harbour") == 1)
            _ = try await app.ask(.patch, "/v1/notes/\(note)", as: token, #"{"location":null}"#)
            #expect(try await count("harbour") == 0)
            #expect(try await count("beta") == 1)
            _ = try await app.delete("/v1/notes/\(note)", as: token)
            #expect(try await count("beta") == 0)
            try await NoteIndex.expectExact(in: app.database)
        }
    }

    @Test(
        "NOTE-12 Case is folded fully; width, ligatures and jamo do not count",
        arguments: [
            ("strasse", "Die Straße"), ("GRÜSSE", "Grüße"), ("fussg", "Fußgänger"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
            ("σίσυφοσ", "Σίσυφος"), ("abc", "ａｂｃ"), ("ａｂｃ", "abc"), ("fish", "ﬁsh"), ("ｶﾀｶﾅ", "カタカナ"),
            ("\u{1100}\u{1175}\u{11B7}\u{110E}\u{1175}", "김치찌개"), ("찌개", "김치찌개"), ("c++", "C++ and C"),
        ]
    )
    func forms(question: String, body: String) async throws {
        #expect(try await found(question, among: ["nothing of that", body]) == [body])
    }

    @Test(
        "NOTE-12 Parts of Chinese, Japanese, Korean and Thai words are read by an index, also longer than its terms",
        arguments: [
            ("東京都庁舎", []), ("東京都庁", ["東京都庁 京都庁舎"]), ("北京大学图书", ["我在北京大学图书馆"]), ("京", ["東京都庁 京都庁舎", "我在北京大学图书馆"]),
            ("เลี้ยงแมว", ["ฉันเลี้ยงแมวสองตัว"]), ("แมวตัว", []), ("김치찌개집", []), ("김치찌개", ["맛있는 김치찌개"]),
        ]
    )
    func passages(question: String, expected: [String]) async throws {
        let bodies = ["我在北京大学图书馆", "東京都庁 京都庁舎", "ฉันเลี้ยงแมวสองตัว", "맛있는 김치찌개"]
        #expect(try await found(question, among: bodies) == expected)
    }

    @Test("NOTE-09 Pages of a search follow a cursor, which counts for this search only")
    func cursors() async throws {
        try await NotesHarness.run { app, token in
            for number in 1...5 { try await app.add(number == 3 ? "cat" : "dog \(number)", as: token) }
            let first = try await app.get("/v1/notes?q=dog&limit=2", as: token)
            #expect(first.all("id", in: "data.items") == ["n5", "n4"])
            #expect(first["meta.page.total"] == 4 && first["meta.page.next_offset"] == 2)
            let next = try first.string("links.next")
            // A newer hit does not move the page.
            try await app.add("dog 6", as: token)
            let second = try await app.get(next, as: token)
            #expect(second.all("id", in: "data.items") == ["n2", "n1"] && second["links.next"] == .null)
            #expect(second["meta.page.total"] == 5 && second["meta.page.offset"] == .null)
            try await app.get(next.replacing("q=dog", with: "q=cat"), as: token)
                .expectProblem("invalid-parameter", 400)
            try await app.get(next + "&offset=1", as: token).expectProblem("invalid-parameter", 400)
            #expect(try await app.get(next.replacing("q=dog", with: "q=%20DOG"), as: token).status == 200)
        }
    }

    @Test("NOTE-09 Of more than a thousand hits the response says that there are more, at the same cost as of fewer")
    func many() async throws {
        let (few, many) = (
            try LarderDatabase.temporary(migrations: NoteStore.migrations),
            try LarderDatabase.temporary(migrations: NoteStore.migrations)
        )
        try ManyNotes.fill(few, notes: 1_100)
        try ManyNotes.fill(many, notes: 4_400)
        for question in ["w", "walk", "long walk", "pla"] {
            let hits = try [few, many].map { database in
                try database.read { db in
                    try NoteStore.hits(NoteQuery(question), account: 1, page: .init(limit: 20), db)
                }
            }
            #expect(hits[0].examined == hits[1].examined && hits[1].examined == SearchHits.counted + 1, "\(question)")
            #expect(hits[1].total == nil && hits[1].totalAtLeast == SearchHits.counted + 1)
            #expect(hits[1].ranks.map(NoteStore.revision(ofRank:)) == Array((4_381...4_400).reversed()))
        }
        let page = try NoteStore(many).list(account: 1, page: .init(limit: 20), search: NoteQuery("dog7")).page
        #expect(page.total == 484 && page.totalAtLeast == nil && page.rows.count == 20)
        try await NoteIndex.expectExact(in: many)
    }

    @Test(
        "NOTE-12 Whatever is added, changed and deleted, a search finds what the notes say, of its account",
        arguments: 1...6
    )
    func random(seed: Int) async throws {
        var chance = SeededRandom(seed: UInt64(seed))
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        let store = NoteStore(database)
        let hash = try PasswordHash(of: try Password("secret"), cost: .scrypt(logarithm: 2))
        let epoch = Date(timeIntervalSince1970: 0)
        let bob = try #require(try await store.register(try UserName("bob"), hash, now: epoch))
        let other = try #require(try await store.register(try UserName("eve"), hash, now: epoch))
        var notes: [Int64: [Int64: Note]] = [bob.id: [:], other.id: [:]]
        for _ in 0..<60 {
            let account = Bool.random(using: &chance) ? bob.id : other.id
            try await Self.write(&notes[account, default: [:]], of: account, to: store, &chance)
        }
        try await NoteIndex.expectExact(in: database)
        for (account, notes) in notes {
            for question in Self.vocabulary + ["dog eve", "大学 🎉", "ёл", "찌개", "👍", "👧", "c"] {
                let query = NoteQuery(question)
                let expected = notes.values.filter { note in
                    let found = NoteTerms(note)
                    return query.terms.allSatisfy(found.terms.contains)
                        && query.passages.allSatisfy(found.passages.contains)
                }.sorted { $0.revision > $1.revision }.map(\.id)
                let page = try store.list(account: account, page: .init(limit: 100), search: query).page
                #expect(page.rows.map(\.id) == expected && page.total == expected.count, "\(question)")
            }
        }
    }

    private static let vocabulary = [
        "Straße", "strasse", "ёлка", "北京大学", "大学", "カタカナ", "แมว", "김치찌개", "🎉", "👍🏽", "👩‍👧", "C++", "dog", "dogs",
        "Δώρος", "12.50",
    ]

    /// Adds, changes or deletes a note of an account at random.
    private static func write(
        _ notes: inout [Int64: Note],
        of account: Int64,
        to store: NoteStore,
        _ chance: inout SeededRandom
    ) async throws {
        let words = (0..<Int.random(in: 1...4, using: &chance)).compactMap { _ in
            vocabulary.randomElement(using: &chance)
        }
        let body = words.joined(separator: " ")
        let place = Note.Location(coordinate: .zero, name: vocabulary.randomElement(using: &chance) ?? "")
        let now = Date(timeIntervalSince1970: 1)
        switch (Int.random(in: 0..<4, using: &chance), notes.keys.min()) {
        case (0, let id?):
            #expect(try await store.delete(id, account: account) != nil)
            notes[id] = nil
        case (1, let id?):
            let isMoved = Bool.random(using: &chance)
            notes[id] = try await store.change(
                id,
                body: isMoved ? nil : body,
                location: isMoved ? place : nil,
                account: account,
                now: now
            )
        default:
            let note = try await store.add(body, at: place, account: account, now: now)
            notes[note.id] = note
        }
    }

    @Test("NOTE-09 Notes that an earlier version has stored are found after the update, those of each account apart")
    func earlier() async throws {
        let (directory, log) = (try DataDirectory.temporary(), Logger(label: "test"))
        let old = NoteStore.migrations.filter { $0.name < "notes/008" }
        let earlier = try LarderDatabase.withCacheTables(in: directory, migrations: old, logger: log)
        try await earlier.write { db in
            for account in 1...2 {
                try db.execute(
                    sql: """
                        INSERT INTO notes_account
                            (id, name_key, name, salt, rounds, block_size, parallelism, digest, created, revision)
                        VALUES (\(account), 'a\(account)', 'a', x'', 4, 8, 1, x'', 0, 3);
                        INSERT INTO note (account, body, opening, latitude, longitude, location_name, cell_x, cell_y,
                            created, modified, revision)
                        VALUES (\(account), 'Straße 北京大学图书馆 \(account)', 'Straße', 1, 1, 'Köln', 0, 0, 1, 1, 3)
                        """
                )
            }
        }
        try earlier.close()
        let database = try LarderDatabase.withCacheTables(in: directory, migrations: NoteStore.migrations, logger: log)
        try await NoteIndex.expectExact(in: database)
        for (question, account, total) in [("strasse koln", 1, 1), ("北京大学", 2, 1), ("1", 2, 0), ("2", 2, 1)] {
            let search = NoteQuery(question)
            let page = try NoteStore(database).list(account: Int64(account), page: .init(limit: 5), search: search).page
            #expect(page.total == total && page.rows.count == total, "\(question)")
        }
        #expect(try NoteStore(database).places(WordQuery("kö"), account: 1, limit: 5).map(\.name) == ["Köln"])
    }
}

/// Searches and the notes that a person expects of them.
@Suite("The graded list of the search of notes") struct GradedNoteSearchTests {
    private static let notes = [
        "Купить лампу в спальню", "Лампы и кроссовки на распродаже", "Running shoes for the park", "Fog at the pier",
        "Рецепт борща: свёкла, капуста", "Dentist on Friday at 10", "Позвонить маме", "Ёлка стоит у окна",
        "Café near the station, good espresso", "Straße gesperrt bis Mai", "Wi-Fi: guest / 12345",
        "Встреча с Олей в четверг", "Ideas for the birthday party", "Книги, которые хочу прочитать",
        "keyboard shortcuts to learn", "Счёт №777888 оплачен",
    ]
    private static let queries: [(text: String, expected: [Int], used: [String])] = [
        ("лампу", [0], []), ("борща", [4], []), ("fog pier", [3], []), ("park running", [2], []), ("елка", [7], []),
        ("cafe", [8], []), ("strasse", [9], []), ("777888", [15], []), ("маме", [6], []), ("birth", [12], []),
        ("олей встреча", [11], []), ("espresso station", [8], []), ("12345", [10], []), ("свекла", [4], []),
        ("dentist friday", [5], []), ("\"birthday party\"", [12], []),
        ("лампами", [0, 1], ["stem"]), ("книга", [13], ["stem"]), ("ideas parties", [12], ["stem"]),
        ("рецепты", [4], ["stem"]), ("shoe", [2], []), ("keyboards", [14], ["stem"]), ("встречи", [11], ["stem"]),
        ("кросовки", [1], ["typo"]), ("keybord", [14], ["typo"]), ("dentsit", [5], ["typo"]),
        ("распрадажа", [1], ["typo"]), ("birtday", [12], ["typo"]), ("wifi", [10], ["typo"]),
        ("krossovki", [1], ["transliteration"]), ("lampa", [0, 1], ["transliteration"]),
        ("ашкв", [], []), ("ащп", [3], ["layout"]), ("vfvt", [6], ["layout"]), ("ljhju", [], []),
    ]

    @Test("ONE-08 at least 90 % of the expected notes are found, and the screen says by what")
    func graded() async throws {
        try await NotesHarness.run { app, token in
            for note in Self.notes { try await app.add(note, as: token) }
            let queries = Self.queries.map { ($0.text, $0.expected.map { Self.notes[$0] }, $0.used) }
            try await GradedSearches(queries).run("notes", naming: "first_line") {
                try await app.get("/v1/notes?q=\($0)", as: token)
            }
        }
    }
}

/// The search index of notes, compared with the notes.
enum NoteIndex {
    /// Checks that the index has the terms and words of all notes and no others.
    static func expectExact(in database: LarderDatabase) async throws {
        let (entries, expected, passages, words) = try await database.write { db in
            let entries = try db.searchEntries(of: "note_term")
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
            let counts = try db.storedWords(in: "note_word") ?? words
            return (entries, expected, stored == passages, counts == words)
        }
        #expect(entries.count == expected.count && Set(entries) == expected && passages && words)
    }
}
