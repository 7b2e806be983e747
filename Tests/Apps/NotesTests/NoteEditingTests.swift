import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

@Suite("Notes over HTTP")
struct NoteEditingTests {
    private static let laguna = #"{"lat":37.79,"lon":-122.42,"name":"Laguna St"}"#

    @Test("NOTE-03 NOTE-04 A note is created with its place, read, changed and deleted")
    func life() async throws {
        try await NotesHarness.run { app, token in
            let created = try await app.ask(
                .post,
                "/v1/notes",
                as: token,
                #"{"body":"A dog outside","location":\#(Self.laguna)}"#
            )
            created.expectScreen("notes.details", status: 201)
            let id = try created.string("data.id")
            #expect(created.headerFields[.location] == "/v1/notes/\(id)")
            let read = try await app.get("/v1/notes/\(id)", as: token)
            read.expectScreen("notes.details")
            #expect(read.body == created.body, "the response to a write equals that to a read")
            #expect(read.headerFields[.eTag] == created.headerFields[.eTag])
            #expect(read["data.body"] == "A dog outside" && read["data.modified_at"] == "2026-01-05T10:00:00Z")
            #expect(
                read["data.modified_text"] == "Today at 10:00"
                    && read["data.last_edited_text"] == "Last edited: Today at 10:00"
            )
            #expect(
                read["data.location.lat"] == 37.79 && read["data.location.lon"] == -122.42
                    && read["data.location.name"] == "Laguna St"
            )
            #expect(
                read["meta.source"] == "local" && read["meta.offline"] == false && read.cacheStatus == nil
                    && read.age == nil
            )
            app.clock.advance(by: .seconds(60))
            let changed = try await app.ask(.patch, "/v1/notes/\(id)", as: token, #"{"body":"Two dogs"}"#)
            changed.expectScreen("notes.details")
            #expect(changed["data.body"] == "Two dogs" && changed["data.modified_text"] == "Today at 10:01")
            #expect(changed["data.location.name"] == "Laguna St", "what is left out stays")
            #expect(changed["data.created_at"] == "2026-01-05T10:00:00Z")
            let gone = try await app.delete("/v1/notes/\(id)", as: token)
            gone.expectScreen("notes.list")
            #expect(gone["data.id"] == .string(id) && gone["data.route.screen"] == "notes.list")
            try await app.get("/v1/notes/\(id)", as: token).expectProblem("not-found", 404)
            try await app.delete("/v1/notes/\(id)", as: token).expectProblem("not-found", 404)
            #expect(app.people.requests.isEmpty)
        }
    }

    @Test("NOTE-03 A list shows the last saved first, first lines and times, and pages")
    func list() async throws {
        try await NotesHarness.run { app, token in
            let first = try await app.add("\\n  first line \\nsecond line", as: token)
            let second = try await app.add("other", Self.laguna, as: token)
            let third = try await app.add("third", as: token)
            _ = try await app.ask(.patch, "/v1/notes/\(first)", as: token, "{}")
            let list = try await app.get("/v1/notes", as: token)
            list.expectScreen("notes.list")
            #expect(
                list.all("id", in: "data.items") == [.string(first), .string(third), .string(second)],
                "a save without a change is a save"
            )
            #expect(
                list["data.items.0.first_line"] == "first line" && list["data.items.2.location.name"] == "Laguna St"
            )
            #expect(
                list.names(in: "data.items.0") == [
                    "id", "first_line", "snippet", "modified_at", "modified_text", "location", "href", "actions",
                ]
            )
            #expect(list["data.items.0.actions.0.confirm"] == .null, "the app deletes without asking")
            #expect(list["data.empty"] == nil && list["meta.state"] == "content" && list["meta.revision"] == 4)
            let page = try await app.get("/v1/notes?limit=2&tz=Europe%2FParis", as: token)
            #expect(
                page["meta.page.total"] == 3 && page["meta.page.has_more"] == true && page["meta.page.next_offset"] == 2
            )
            #expect(page["data.items.0.modified_text"] == "Today at 11:00")
            let next = try page.string("links.next")
            #expect(try await app.get(next, as: token).all("id", in: "data.items") == [.string(second)])
            let past = try await app.get("/v1/notes?offset=9", as: token)
            #expect(past["meta.page.count"] == 0 && past["meta.state"] == "content")
            for query in ["limit=0", "limit=101", "offset=-1", "limit=x"] {
                try await app.get("/v1/notes?\(query)", as: token).expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("A row has the lines after the first one on one line, as far as they are stored beside the text")
    func snippet() async throws {
        try await NotesHarness.run { app, token in
            let long = String(repeating: "é", count: 300)
            for body in ["only", #"\n  first \r\n\n second\n\tthird "#, #"first\n"# + long] {
                _ = try await app.add(body, as: token)
            }
            let rows = try await app.get("/v1/notes", as: token)
            #expect(rows.strings("snippet", in: "data.items") == ["\(long.prefix(194))…", "second third", ""])
        }
    }

    @Test("NOTE-03 A first line of over 200 characters ends there with …, one of 200 is whole", arguments: [200, 201])
    func longLine(length: Int) async throws {
        try await NotesHarness.run { app, token in
            try await app.add(String(repeating: "é", count: length), as: token)
            let shown = String(repeating: "é", count: 200) + (length > 200 ? "…" : "")
            #expect(try await app.get("/v1/notes", as: token)["data.items.0.first_line"] == .string(shown))
        }
    }

    @Test("NOTE-03 Without notes the list is empty in the app's words")
    func empty() async throws {
        try await NotesHarness.run { app in
            let list = try await app.get("/v1/notes", as: app.register())
            #expect(
                list["meta.state"] == "empty" && list["data.items"] == [] && list["data.empty.title"] == "No Notes Yet"
            )
            #expect(
                list["data.empty.text"] == "This is where your notes will appear."
                    && list["data.empty.button"] == "Create Note"
            )
        }
    }

    @Test("NOTE-03 Another account's notes do not exist: to no method, in no list, on no map, in no search")
    func separate() async throws {
        try await NotesHarness.run { app in
            let (bob, eve) = (try await app.register("bob"), try await app.register("eve"))
            let note = try await app.add("secret plan", Self.laguna, as: bob)
            let path = "/v1/notes/\(note)"
            try await app.get(path, as: eve).expectProblem("not-found", 404)
            try await app.ask(.patch, path, as: eve, [.ifMatch: "*"], #"{"body":"mine"}"#).expectProblem(
                "not-found",
                404
            )
            try await app.delete(path, as: eve).expectProblem("not-found", 404)
            #expect(try await app.get("/v1/notes", as: eve)["meta.page.total"] == 0)
            #expect(try await app.get("/v1/notes?q=secret", as: eve)["meta.page.total"] == 0)
            #expect(try await app.get("/v1/notes/map", as: eve)["data.pins"] == [])
            #expect(try await app.get("/v1/notes/places?q=lag", as: eve).text.contains("Laguna") == false)
            #expect(try await app.get(path, as: bob)["data.body"] == "secret plan")
        }
    }

    @Test("NOTE-03 Notes survive a restart")
    func restart() async throws {
        let (directory, box) = (try DataDirectory.temporary(), TokenBox())
        try await NotesHarness.run(directory: directory) { app in
            box.token = try await app.register()
            try await app.add("kept", Self.laguna, as: box.token)
        }
        try await NotesHarness.run(directory: directory) { app in
            let list = try await app.get("/v1/notes", as: box.token)
            #expect(list["data.items.0.first_line"] == "kept" && list["data.items.0.location.name"] == "Laguna St")
        }
    }

    @Test("NOTE-04 A note without a place is at 0, 0, which has a name; null puts it back there")
    func unknownPlace() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("nowhere", as: token)
            let read = try await app.get("/v1/notes/\(note)", as: token)
            #expect(
                read["data.location.lat"] == 0 && read["data.location.lon"] == 0
                    && read["data.location.name"] == "Unknown location"
            )
            _ = try await app.ask(.patch, "/v1/notes/\(note)", as: token, #"{"location":{"lat":-90,"lon":180}}"#)
            let pole = try await app.get("/v1/notes/\(note)", as: token)
            #expect(
                pole["data.location.lat"] == -90 && pole["data.location.lon"] == 180 && pole["data.body"] == "nowhere"
            )
            _ = try await app.ask(.patch, "/v1/notes/\(note)", as: token, #"{"location":null}"#)
            #expect(try await app.get("/v1/notes/\(note)", as: token)["data.location.name"] == "Unknown location")
        }
    }

    @Test(
        "NOTE-04 An invalid text or place is refused with every fault named, and nothing changes",
        arguments: [
            (#"{}"#, ["/body"]), (#"{"body":""}"#, ["/body"]), (#"{"body":" \n\t"}"#, ["/body"]),
            (#"{"body":null}"#, ["/body"]), (#"{"body":7}"#, ["/body"]),
            (#"{"body":"a\u0000b"}"#, ["/body"]), (#"{"body":"a","location":7}"#, ["/location"]),
            (#"{"body":"a","location":{}}"#, ["/location/lat", "/location/lon"]),
            (#"{"body":"a","location":{"lat":1}}"#, ["/location/lon"]),
            (#"{"body":"a","location":{"lon":1,"lat":null}}"#, ["/location/lat"]),
            (#"{"body":"a","location":{"lat":90.01,"lon":1}}"#, ["/location/lat"]),
            (#"{"body":"a","location":{"lat":1,"lon":-180.5}}"#, ["/location/lon"]),
            (#"{"body":"a","location":{"lat":"NaN","lon":"1"}}"#, ["/location/lat", "/location/lon"]),
            (#"{"body":"","location":{"lat":1,"lon":1,"name":7}}"#, ["/body", "/location/name"]),
            (#"{"body":"a","location":{"lat":1,"lon":1,"name":"a\u0000"}}"#, ["/location/name"]),
        ]
    )
    func refused(body: String, pointers: [String]) async throws {
        try await NotesHarness.run { app, token in
            let response = try await app.ask(.post, "/v1/notes", as: token, body)
            response.expectProblem("validation-failed", 422)
            #expect(response.all("pointer", in: "errors") == pointers.map { .string($0) })
            #expect(try await app.get("/v1/notes", as: token)["meta.page.total"] == 0)
        }
    }

    @Test(
        "NOTE-03 Malformed JSON is 400, including lone surrogates and numbers out of range",
        arguments: [#"{"body":"\ud800"}"#, #"{"body":"a","location":{"lat":1e999,"lon":0}}"#, "[", "[]", ""]
    )
    func malformed(body: String) async throws {
        try await NotesHarness.run { app in
            let response = try await app.ask(.post, "/v1/notes", as: app.register(), body)
            #expect(response.status == 400 || response.status == 422, "\(response.text)")
            #expect(response["state"] == "error")
        }
    }

    @Test("NOTE-03 A text of 64 KiB is accepted, a longer one is 422, and a longer body 413")
    func size() async throws {
        try await NotesHarness.run { app, token in
            let longest = String(repeating: "я", count: Note.longestBody / 2)
            let taken = try await app.ask(.post, "/v1/notes", as: token, #"{"body":"\#(longest)"}"#)
            #expect(taken.status == 201 && taken["data.body"] == .string(longest))
            try await app.ask(.post, "/v1/notes", as: token, #"{"body":"\#(longest)я"}"#).expectProblem(
                "validation-failed",
                422
            )
            let huge = String(repeating: "x", count: 8 * Note.longestBody)
            try await app.ask(.post, "/v1/notes", as: token, #"{"body":"\#(huge)"}"#).expectProblem("too-large", 413)
        }
    }

    @Test("NOTE-04 The length of a place name is counted in code points, not in characters")
    func longName() async throws {
        try await NotesHarness.run { app, token in
            let ask = { (name: String) in
                try await app.ask(
                    .post,
                    "/v1/notes",
                    as: token,
                    #"{"body":"a","location":{"lat":1,"lon":2,"name":"\#(name)"}}"#
                )
            }
            #expect(try await ask(String(repeating: "я", count: Note.Location.longestName)).status == 201)
            try await ask("e" + String(repeating: "\u{301}", count: Note.Location.longestName)).expectProblem(
                "validation-failed",
                422
            )
        }
    }

    @Test("NOTE-04 A place without its position has an error for each missing number")
    func half() async throws {
        try await NotesHarness.run { app in
            let response = try await app.ask(
                .post,
                "/v1/notes",
                as: app.register(),
                #"{"body":"a","location":{"name":"Here"}}"#
            )
            response.expectProblem("validation-failed", 422)
            #expect(response.all("pointer", in: "errors") == ["/location/lat", "/location/lon"])
            let details = response.all("detail", in: "errors")
            #expect(details.first != details.last)
        }
    }

    @Test("An unknown time zone is 400", arguments: ["Mars/Olympus", "../../etc/passwd", "PST", "%00", "Europe/", ""])
    func timeZone(name: String) async throws {
        try await NotesHarness.run { app, token in
            for path in ["", "/map", "/n1"] {
                try await app.get("/v1/notes\(path)?tz=\(name)", as: token).expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test(
        "NOTE-03 Names of the time zone database without a slash are known, with the offset that they have there",
        arguments: [
            ("EST", "05:00"), ("EST5EDT", "05:00"), ("PST8PDT", "02:00"), ("UCT", "10:00"), ("Japan", "19:00"),
            ("MST", "03:00"), ("HST", "00:00"), ("GMT%2B0", "10:00"), ("Zulu", "10:00"),
        ]
    )
    func plainTimeZone(name: String, time: String) async throws {
        try await NotesHarness.run { app, token in
            try await app.add("a", as: token)
            let note = try await app.get("/v1/notes/n1?tz=\(name)", as: token)
            #expect(note["data.modified_text"] == .string("Today at \(time)"))
        }
    }

    @Test(
        "NOTE-03 A malformed id is 404",
        arguments: ["1", "n", "n0", "n01", "n-1", "n1x", "N1", "n99999999999999999999"]
    )
    func identity(id: String) async throws {
        try await NotesHarness.run { app, token in
            try await app.add("a", as: token)
            try await app.get("/v1/notes/\(id)", as: token).expectProblem("not-found", 404)
        }
    }

    @Test("NOTE-05 SRV-09 A change is published to its account only, for both screens that show it")
    func events() async throws {
        try await NotesHarness.run { app in
            try await app.add("a", as: try await app.register())
            let published = app.events.published.filter { $0.kind == "screen-changed" }
            #expect(
                published.map(\.json)
                    == ["notes.list", "notes.map"].map { #"{"app":"notes","screen":"\#($0)","revision":1}"# }
            )
            #expect(published.allSatisfy { $0.audience == .account(app: "notes", account: "1") })
        }
    }
}
