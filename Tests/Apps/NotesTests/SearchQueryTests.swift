import Database
import Foundation
import GRDB
import HTTPTypes
import Screens
import Synchronization
import TestKit
import Testing

@testable import Notes

@Suite("Search in notes")
struct SearchQueryTests {
    private func found(_ question: String, among bodies: [String]) async throws -> [String] {
        let box = Box()
        try await NotesHarness.run { app in
            let token = try await app.register()
            for body in bodies { try await app.add(body, as: token) }
            let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let response = try await app.get("/v1/notes?q=\(query)", as: token)
            try #require(response.status == 200)
            box.lines.withLock { $0 = Self.texts(response.all("first_line", in: "data.items")) }
        }
        return box.lines.withLock { $0 }
    }

    private static func texts(_ values: [JSONFields.Value]) -> [String] {
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

    @Test("NOTE-09 Words alone are quoted, the last one open, and the account is part of the question")
    func expression() {
        #expect(
            SearchQuery("dog OR \"bark\"").expression(account: 7)
                == #"account : "7" AND {body location_name} : ("dog" AND "OR" AND "bark" *)"#
        )
        #expect(
            SearchQuery("lag").expression(account: 7, placesOnly: true)
                == #"account : "7" AND location_name : ("lag" *)"#
        )
        #expect(SearchQuery("!? …").expression(account: 7) == nil)
        #expect(SearchQuery(String(repeating: "a ", count: 500)).words.count == SearchQuery.mostWords)
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
            ("❤", ["❤️ of mine"]), ("❤️", ["❤️ of mine"]), ("❤️ mi", ["❤️ of mine"]), ("👩‍👧", ["👩‍👧 and 🇩🇪"]), ("👩‍👦", []),
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

    @Test("NOTE-09 е stands for ё and ё for е, each letter in its turn; a word of many е is cheap")
    func spellings() {
        #expect(SearchQuery.spellings(of: "еще") == ["еще", "ёще", "ещё"])
        #expect(
            SearchQuery.spellings(of: "трёхколёсный") == [
                "трёхколёсный", "трехколесный", "трёхколесный", "трехколёсный",
            ]
        )
        #expect(SearchQuery.spellings(of: "café") == ["café"])
        #expect(SearchQuery.spellings(of: String(repeating: "е", count: 3000)).count == 1)
        #expect(
            SearchQuery("ель dog").expression(account: 7)
                == #"account : "7" AND {body location_name} : (("ель" OR "ёль") AND "dog" *)"#
        )
    }

    @Test("NOTE-09 A search without a match is empty in words of its own, and one of nothing shows everything")
    func empty() async throws {
        try await NotesHarness.run { app in
            let token = try await app.register()
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
        try await NotesHarness.run { app in
            let token = try await app.register()
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
            try await app.database.write { db in
                try db.execute(sql: "INSERT INTO note_text (note_text, rank) VALUES ('integrity-check', 1)")
            }
        }
    }
}
