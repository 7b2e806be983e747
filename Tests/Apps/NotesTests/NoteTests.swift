import Foundation
import GRDB
import NIOCore
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Notes

@Suite("Words of notes that are longer than a term")
struct NoteTermsTests {
    private static let word = "Donaudampfschifffahrtsgesellschaft"

    private func ids(_ question: String, _ app: NotesHarness, as token: String) async throws -> Int {
        let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let response = try await app.get("/v1/notes?q=\(query)", as: token)
        #expect(response["meta.page.total"] == .number(Double(response.all("id", in: "data.items").count)))
        return response.all("id", in: "data.items").count
    }

    @Test(
        "NOTE-09 Every letter of a long word counts, in the middle of a search as at its end",
        arguments: [
            (word, 2), ("\(word)skapitän", 1), ("\(word)x", 0), ("\(word)skap", 1), ("\(word)skap\(word)", 0),
            ("\(word) anna", 1), ("\(word)s anna", 0), ("\(word)skapitän boris", 1),
            ("donaudampfschifffahrtsgesell", 2),
            ("donaudampfschifffahrtsgesell anna", 0), ("DONAUDAMPFSCHIFFFAHRTSGESELLSCHAFT", 2),
        ]
    )
    func letters(question: String, count: Int) async throws {
        try await NotesHarness.run { app, token in
            try await app.add("\(Self.word) Anna", as: token)
            try await app.add("Boris, \(Self.word)skapitän", as: token)
            #expect(try await ids(question, app, as: token) == count)
        }
    }

    @Test("NOTE-09 Long words of notes of an earlier version are found, and no others")
    func earlier() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("\(Self.word) Anna", as: token)
            try await app.add("短いメモ of mine", as: token)
            try await app.database.write { db in
                try db.execute(sql: "DELETE FROM note_passage WHERE text NOT LIKE '%メモ%'")
                let migration = try #require(NoteStore.migrations.first { $0.name.hasPrefix("notes/009") })
                try migration.migrate(db)
            }
            #expect(try await ids(Self.word, app, as: token) == 1)
            #expect(try await ids(Self.word + "en", app, as: token) == 0)
            #expect(try await ids("短いメモ", app, as: token) == 1)
        }
    }
}

@Suite("Times of notes")
struct NoteTimeTests {
    private func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }
    private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

    @Test(
        "NOTE-03 Today's times say so, others name the day, in the zone of the reader",
        arguments: [
            ("2026-09-08T14:59:00Z", "2026-09-08T23:59:59Z", "GMT", "Today at 14:59"),
            ("2026-09-08T14:59:00Z", "2026-09-09T00:00:00Z", "GMT", "Sep 8 at 14:59"),
            ("2026-09-08T00:00:00Z", "2026-09-08T10:00:00Z", "GMT", "Today at 00:00"),
            ("2025-12-31T23:30:00Z", "2026-01-01T10:00:00Z", "Europe/Paris", "Today at 00:30"),
            ("2026-01-01T03:05:00Z", "2026-01-01T10:00:00Z", "America/New_York", "Dec 31 at 22:05"),
            ("2026-01-05T10:00:00Z", "2026-01-05T09:00:00Z", "GMT", "Today at 10:00"),
        ]
    )
    func text(modified: String, now: String, zoneName: String, expected: String) throws {
        let time = NoteTime(in: try zone(zoneName), now: try date(now))
        #expect(time.text(try date(modified)).english == expected)
    }

    @Test("HARN-30 times are written in Russian, too")
    func russian() throws {
        let time = NoteTime(in: .gmt, now: try date("2026-09-09T00:00:00Z"))
        #expect(time.text(try date("2026-09-08T14:59:00Z")).russian == "8 сент. в 14:59")
        #expect(time.text(try date("2026-09-09T05:07:00Z")).russian == "Сегодня в 05:07")
    }

    @Test(
        "The deadline is the next midnight of the time zone, also on a day of 23 or 25 hours",
        arguments: [
            ("2026-01-05T10:00:00Z", "GMT", 50400.0), ("2026-01-05T10:00:00Z", "Europe/Paris", 46800.0),
            ("2026-03-28T23:00:00Z", "Europe/Paris", 82800.0),
            ("2026-10-24T22:00:00Z", "Europe/Paris", 90000.0), ("2026-01-05T23:59:59Z", "GMT", 1.0),
        ]
    )
    func deadline(now: String, zoneName: String, seconds: Double) throws {
        let before = NIODeadline.now()
        let deadline = NoteTime(in: try zone(zoneName), now: try date(now)).deadline
        let span = Double((deadline - before).nanoseconds) / 1e9
        #expect(span >= seconds && span < seconds + 60)
    }
}

@Suite("The time of content on the screens of Notes that have an upstream")
struct ContentTimeTests {
    private static let screens = [
        "people?limit=2", "people?q=name1", "people/1?", "places?q=paris", "people?replace=1", "people/2?replace=1",
    ]

    @Test("ONE-02 fetched_at moves whenever the content did", arguments: 0..<4)
    func moves(seed: Int) async throws {
        let step = Watched(0)
        let people: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                "["
                    + (1...3).map { #"{"id":\#($0),"first_name":"Name\#($0 + step.value / 5)"}"# }.joined(
                        separator: ","
                    ) + "]"
            )
        }
        let places: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","#
                    + #""coordinates":[2.3,48.9]},"properties":{"name":"Paris \#(step.value / 5)"}}]}"#
            )
        }
        try await NotesHarness.run(people: people, geocoder: places) { app in
            var random = SeededRandom(seed: UInt64(seed))
            var seen = SeenContent()
            let token = try await app.register()
            for number in 0..<100 {
                step.update { $0 = number }
                app.clock.advance(by: .seconds(Int.random(in: 1...2000, using: &random)))
                let screen = Self.screens.randomElement(using: &random) ?? ""
                let refresh = Bool.random(using: &random) ? "" : "&refresh=1"
                let target = "/v1/notes/\(screen)\(refresh)"
                seen.check(try await app.get(target, as: token), of: screen)
            }
            #expect(seen.changes > 5)
        }
    }
}
