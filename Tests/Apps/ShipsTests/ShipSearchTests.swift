import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

/// Searches and the ships that a person expects of them, among the 29 bundled ones.
@Suite("The search of ships") struct ShipSearchTests {
    private static let searches = GradedSearches([
        ("bob", ["Bob"], []), ("GO", ["GO Ms Chief", "GO Ms Tree", "GO Pursuit", "GO Quest"], []),
        ("quest", ["GO Quest", "NRC Quest"], []), ("quest go", ["GO Quest"], []),
        ("pacific", ["Pacific Freeedom", "Pacific Warrior"], []), ("love you", ["Of Course I Still Love You"], []),
        ("instructions", ["Just Read The Instructions 1", "Just Read The Instructions 2"], []),
        ("instructions 2", ["Just Read The Instructions 2"], []), ("mr jonah", ["Mr. Jonah"], []),
        ("wood", ["Hollywood", "HOS Briarwood"], []), ("spirit american", ["American Spirit"], []),
        ("lauderdale", ["Hollywood"], []), ("dragon", ["American Islander", "NRC Quest"], []),
        ("high speed", ["GO Ms Chief", "GO Ms Tree"], []), ("rachel", ["RACHEL"], []), ("ELSBETH", ["Elsbeth III"], []),
        // Other forms, errors, the other alphabet and layout.
        ("warriors", ["Pacific Warrior"], ["stem"]), ("instruction", ["Just Read The Instructions 1"], []),
        ("gravitsa", ["A Shortfall of Gravitas"], ["typo"]), ("shanon", ["Shannon"], ["typo"]),
        ("chif", ["GO Ms Chief"], ["typo"]), ("freedom", ["Pacific Freeedom"], ["typo"]),
        ("hollywod", ["Hollywood"], ["typo"]), ("меган", ["Megan"], ["transliteration"]),
        ("хоук", ["HAWK"], ["transliteration"]), ("даг", ["Doug"], ["transliteration"]),
        ("ырфттщт", ["Shannon"], ["layout"]), ("ищи", ["Bob"], ["layout"]),
    ])

    private static func encoded(_ text: String) -> String { PercentEncoding.encode(text, allowed: .unreserved) }

    @Test("ONE-08 offline, at least 90 % of the expected ships are found, and the screen says by what")
    func graded() async throws {
        let snapshot = try ShipSnapshot.bundled()
        try await ShipsHarness.run(ScriptedSpaceX(.unreachable(.refused)), snapshot: snapshot) { app, token in
            try await Self.searches.run("ships") { text in
                let found = try await app.get("/v1/ships?q=\(text)", as: token)
                let count = found.all("name", in: "data.items").count
                #expect(found["meta.page.total"] == .number(Double(count)) && found["meta.offline"] == true)
                return found
            }
        }
    }

    @Test("ONE-08 whole words come before beginnings, these before other parts, the name before other texts")
    func ranked() async throws {
        let ships = [
            ("a", "Bargeman", ""), ("b", "Aubarge", ""), ("c", "Zed", #""type":"Barge""#), ("d", "The Barge", ""),
            ("e", "Yon", #""home_port":"Bargetown""#),
        ].map { ShipFixtures.record($0.0, $0.1, $0.2) }
        try await ShipsHarness.run(ScriptedSpaceX(.ships(ships))) { app, token in
            let found = try await app.get("/v1/ships?q=barge", as: token).all("id", in: "data.items")
            #expect(found == ["d", "a", "b", "c", "e"])
            // Page by page, with another account's view.
            #expect(try await app.ask(.delete, "/v1/ships/a", as: token).status == 200)
            var (seen, target): ([JSON], String?) = ([], "/v1/ships?q=barge&limit=2")
            while let next = target {
                let page = try await app.get(next, as: token)
                seen += page.all("id", in: "data.items")
                #expect(page["meta.page.total"] == 4)
                target = page["links.next"]?.string
            }
            #expect(seen == ["d", "b", "c", "e"])
            let none = try await app.get("/v1/ships?q=zzz", as: token)
            #expect(none["meta.state"] == "empty" && none["data.empty.action.href"] == "/v1/ships")
            #expect(try await app.get("/v1/ships?q=%20", as: token).all("id", in: "data.items").count == 4)
        }
    }

    @Test("ONE-08 a search follows every change of the ships, and its cursors are of that search only")
    func follows() async throws {
        try await ShipsHarness.run { app, token in
            #expect(try await app.get("/v1/ships?q=bob", as: token).all("id", in: "data.items") == ["b0b"])
            app.spaceX.become(.ships([ShipFixtures.record("b0b", "Rob"), ShipFixtures.record("x", "Bobby")]))
            let changed = try await app.get("/v1/ships?q=bob&refresh=1", as: token)
            #expect(changed.all("id", in: "data.items") == ["x"])
            let first = try await app.get("/v1/ships?q=a&limit=1", as: token)
            let next = try #require(first["links.next"]?.string)
            let other = try await app.get(next.replacing("q=a", with: "q=b"), as: token)
            other.expectProblem("invalid-parameter", 400)
        }
    }

    @Test("ONE-08 a text of any length takes bounded work")
    func long() async throws {
        try await ShipsHarness.run { (app, token) async throws in
            for text in [String(repeating: "a", count: 8000), String(repeating: "ы ", count: 1500), "<b>\"'&"] {
                #expect(try await app.get("/v1/ships?q=\(Self.encoded(text))", as: token).status == 200)
            }
        }
    }
}
