import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Notes

@Suite("People over HTTP")
struct NotePeopleTests {
    private static let others = #"[{"id":1,"first_name":"Another","last_name":"One"}]"#

    @Test("NOTE-06 People are fetched by the first request only and sorted by first name; nulls affect one row only")
    func once() async throws {
        try await NotesHarness.run { app, token in
            #expect(app.people.requests.isEmpty, "nothing is fetched before the first request")
            let first = try await app.get("/v1/notes/people", as: token)
            first.expectScreen("notes.people")
            #expect(first.all("full_name", in: "data.items") == ["adam", "Carl Abel", "Zoë Le Quesne"])
            let addresses = first.strings("email_text", in: "data.items")
            #expect(addresses.first == "N/A" && addresses.last == "z@example.org")
            #expect(first["meta.source"] == "upstream" && first["meta.revision"] == 1 && first["meta.page.total"] == 3)
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored" && first["data.actions.0.id"] == "logout")
            app.people.always { (_) throws(UpstreamError) in .json(Self.others) }
            app.clock.advance(by: .seconds(86_400 * 400))
            for query in ["", "?refresh=1", "?replace=1", "?limit=1&offset=2"] {
                let later = try await app.get("/v1/notes/people\(query)", as: token)
                #expect(
                    later["meta.source"] == "upstream" && later["meta.offline"] == false && later["meta.stale"] == false
                )
                #expect(later.cacheStatus?.hasPrefix("larder; hit; ttl=") == true && later.age == "34560000")
                #expect(!later.text.contains("Another"))
            }
            _ = try await app.get("/v1/notes/people", as: token, [.cacheControl: "no-cache"])
            #expect(app.people.requests.count == 1)
            #expect(app.people.requests.first?.url == "https://people.test/api/schema?count=3")
        }
    }

    @Test("NOTE-06 People are read in pages by key, those of a search too, and counted when they are stored")
    func pages() async throws {
        let rows = (1...40).map { #"{"id":\#($0),"first_name":"Name\#($0 % 7)","last_name":"\#($0 % 3)"}"# }
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json("[\(rows.joined(separator: ","))]")
        }
        try await NotesHarness.run(people: script, settings: .notes.with(NotesApp.peopleCount, 40)) { app, token in
            for (query, total) in [("", 40), ("&q=name3", 6)] {
                let whole = try await app.get("/v1/notes/people?limit=500\(query)", as: token)
                #expect(whole["meta.page.total"] == .number(Double(total)))
                var (ids, target) = ([JSON](), String?.some("/v1/notes/people?limit=4\(query)"))
                while let path = target {
                    let page = try await app.get(path, as: token)
                    ids += page.all("id", in: "data.items")
                    #expect(page["meta.page.total"] == .number(Double(total)) && page["meta.state"] == "content")
                    target = page["links.next"] == .null ? nil : try page.string("links.next")
                }
                #expect(ids == whole.all("id", in: "data.items") && ids.count == total)
            }
            let searched = try await app.get("/v1/notes/people?limit=4&q=NAME3", as: token).string("links.next")
            #expect(try await app.get(searched.replacing("NAME3", with: "name3"), as: token).status == 200)
            try await app.get(searched.replacing("NAME3", with: "a"), as: token).expectProblem("invalid-parameter", 400)
            try await app.get(searched.replacing("NAME3", with: ""), as: token).expectProblem("invalid-parameter", 400)
            app.people.always { (_) throws(UpstreamError) in .json(Self.others) }
            let others = try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)
            #expect(others["meta.page.total"] == 1)
            let sql = "SELECT people - (SELECT count(*) FROM notes_person) FROM notes_people"
            let counted = try app.database.integer(sql)
            #expect(counted == 0)
        }
    }

    @Test("NOTE-06 Details show name, e-mail, gender and avatar; unknown values say so; an unknown id is 404")
    func details() async throws {
        try await NotesHarness.run { app, token in
            let zoe = try await app.get("/v1/notes/people/1", as: token)
            zoe.expectScreen("notes.person")
            #expect(
                zoe["data.full_name"] == "Zoë Le Quesne" && zoe["data.email"] == "z@example.org"
                    && zoe["data.gender_text"] == "Female"
            )
            #expect(zoe["data.avatar_url"] == "/v1/notes/people/1/avatar" && !zoe.text.contains("robots.test"))
            let adam = try await app.get("/v1/notes/people/2", as: token)
            #expect(
                adam["data.full_name"] == "adam" && adam["data.email"] == .null && adam["data.email_text"] == "N/A"
                    && adam["data.last_name"] == .null
            )
            for id in ["0", "4", "01", "-1", "x", "9223372036854775808"] {
                try await app.get("/v1/notes/people/\(id)", as: token).expectProblem("not-found", 404)
            }
        }
    }

    @Test("NOTE-06 Stored people are served, flagged, without the upstream, also after a restart")
    func offline() async throws {
        let (directory, box) = (try DataDirectory.temporary(), TokenBox())
        try await NotesHarness.run(directory: directory) { app in
            box.token = try await app.register()
            _ = try await app.get("/v1/notes/people", as: box.token)
            app.people.goAway()
            _ = try await app.get("/v1/notes/people?refresh=1&replace=1", as: box.token)
            let offline = try await app.get("/v1/notes/people", as: box.token)
            #expect(offline["meta.offline"] == true && offline["meta.stale"] == true && offline["meta.page.total"] == 3)
            #expect(
                offline.cacheStatus?.hasSuffix("; detail=offline") == true
                    && offline.cacheStatus?.hasPrefix("larder; hit") == true
            )
        }
        let unreachable: ScriptedTransport.Step = { (_) throws(UpstreamError) in throw .unreachable(.refused) }
        try await NotesHarness.run(people: unreachable, directory: directory) { app in
            let list = try await app.get("/v1/notes/people", as: box.token)
            #expect(list.status == 200 && list["meta.page.total"] == 3 && app.people.requests.isEmpty)
        }
    }

    @Test(
        "NOTE-06 NOTE-13 TRUST-06 A truncated response, an object or an empty list is not stored; the next tries again",
        arguments: [
            #"[{"id":1,"first_name":"A"},{"id":2,"fi"#, #"{"error":"no"}"#, "null", "7", "[]", "[null,{}]",
            #"[{"id":1,"first_name":null,"last_name":" "}]"#,
            "<html>", #"{"id":1,"first_name":"A","last_name":"B"}"#,
        ]
    )
    func unusable(body: String) async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in .json(body) }
        try await NotesHarness.run(people: script) { app, token in
            try await app.get("/v1/notes/people", as: token).expectProblem("upstream-bad-response", 502)
            #expect(
                try NoteStore(app.database).snapshot() == nil
                    && NoteStore(app.database).people(.init(limit: 9)).0.total == 0
            )
            app.people.always { (_) throws(UpstreamError) in .json(NotesHarness.threePeople) }
            #expect(try await app.get("/v1/notes/people", as: token)["meta.page.total"] == 3)
        }
    }

    @Test(
        "TRUST-06 A page of an intermediary, or one object, replaces no people and is no refused key",
        arguments: [200, 401, 403, 404, 407]
    )
    func inBetween(status: Int) async throws {
        try await NotesHarness.run { app, token in
            app.people.always { (_) throws(UpstreamError) in .page(status) }
            try await app.get("/v1/notes/people", as: token).expectProblem("upstream-bad-response", 502)
            app.people.always { (_) throws(UpstreamError) in .json(NotesHarness.threePeople) }
            #expect(try await app.get("/v1/notes/people", as: token)["meta.page.total"] == 3)
            let page = IncomingResponse.page(status)
            for response in [page, .json(#"{"id":7,"first_name":"A"}"#), .json("[null]")] {
                app.people.always { (_) throws(UpstreamError) in response }
                let list = try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)
                #expect(
                    list.status == 200 && list["meta.page.total"] == 3 && list["meta.stale"] == true,
                    "\(list.text)"
                )
                #expect(
                    list.cacheStatus == "larder; fwd=request; fwd-status=\(response.status.code); detail=bad-response"
                )
            }
            app.people.goAway()
            #expect(try await app.get("/v1/notes/people", as: token)["meta.page.total"] == 3)
        }
    }

    @Test("NOTE-06 Unreachable is 503, the quota's 429 is passed on, a refused key is named")
    func failures() async throws {
        try await NotesHarness.run { app, token in
            app.people.goAway()
            let gone = try await app.get("/v1/notes/people", as: token)
            gone.expectProblem("upstream-unavailable", 503)
            #expect(gone["offline"] == true && gone["upstream.name"] == "people")
            app.people.always { (_) throws(UpstreamError) in
                .json(#"{"error":"Invalid API Key"}"#, status: .unauthorized)
            }
            app.clock.advance(by: .seconds(2))
            let refused = try await app.get("/v1/notes/people", as: token)
            refused.expectProblem("upstream-forbidden", 403)
            #expect(refused.text.contains("people.key") && refused["upstream.status"] == 401)
            app.people.always { (_) throws(UpstreamError) in
                .json(#"{"error":"limit"}"#, status: .tooManyRequests, headerFields: [.retryAfter: "60"])
            }
            let limited = try await app.get("/v1/notes/people", as: token)
            limited.expectProblem("rate-limited", 429)
            #expect(limited.headerFields[.retryAfter] == "60")
            let asked = app.people.requests.count
            try await app.get("/v1/notes/people", as: token).expectProblem("rate-limited", 429)
            #expect(app.people.requests.count == asked, "Retry-After is kept to")
            try await app.get("/v1/notes/people", as: token, [.cacheControl: "only-if-cached"]).expectProblem(
                "not-in-cache",
                504
            )
        }
    }

    @Test("NOTE-06 Only refresh and replace together replace all people, with a new revision; a failure keeps them")
    func replaced() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            app.people.always { (_) throws(UpstreamError) in .json("[]") }
            let kept = try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)
            #expect(
                kept.status == 200 && kept["meta.page.total"] == 3 && kept["meta.stale"] == true
                    && kept["meta.revision"] == 1
            )
            app.people.always { (_) throws(UpstreamError) in .json(Self.others) }
            let others = try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)
            #expect(
                others.all("full_name", in: "data.items") == ["Another One"] && others["meta.revision"] == 2
                    && others["meta.source"] == "upstream"
            )
            #expect(app.events.published.filter { $0.json.contains("notes.people") }.count == 2)
            app.people.always { (_) throws(UpstreamError) in .json(NotesHarness.threePeople) }
            let paged = try await app.get("/v1/notes/people?refresh=1&replace=1&limit=1", as: token)
            guard case .string(let next) = paged["links.next"] else { return #expect(Bool(false), "no next page") }
            #expect(
                paged["links.self"] == "/v1/notes/people?limit=1" && next.hasPrefix("/v1/notes/people?cursor=")
                    && next.hasSuffix("&limit=1"),
                "a link replaces no people"
            )
        }
    }

    @Test("NOTE-06 A single requested person is accepted as an object; concurrent clients share one request")
    func single() async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in .json(#"{"id":1,"first_name":"Only"}"#) }
        try await NotesHarness.run(people: script, settings: .notes.with(NotesApp.peopleCount, 1)) { app, token in
            app.people.hold()
            let totals = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...8 { group.addTask { try await app.get("/v1/notes/people", as: token).status } }
                await app.people.requestIsHeld()
                app.people.release()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(totals == Array(repeating: 200, count: 8) && app.people.requests.count == 1)
        }
    }

    @Test("NOTE-07 An avatar is fetched on demand, then always served from the database, also offline")
    func avatar() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            #expect(app.people.requests.count == 1, "no avatar is fetched ahead")
            app.people.always { (_) throws(UpstreamError) in
                IncomingResponse(status: .ok, headerFields: [.contentType: "image/png"], body: TestPicture.greyPixel)
            }
            let first = try await app.get("/v1/notes/people/1/avatar", as: token)
            #expect(
                first.status == 200 && Array(first.body) == TestPicture.greyPixel
                    && first.headerFields[.contentType] == "image/png"
            )
            #expect(first.cacheStatus == "larder; fwd=uri-miss; stored")
            #expect(
                first.headerFields[.cacheControl] == "private, no-cache",
                "the address is that of a row, which may become another person's"
            )
            #expect(app.people.requests.last?.url == "https://robots.test/zoe.png?size=50x50&set=set1")
            app.people.goAway()
            app.clock.advance(by: .seconds(86_400 * 400))
            let later = try await app.get("/v1/notes/people/1/avatar?refresh=1", as: token)
            #expect(
                Array(later.body) == TestPicture.greyPixel && later.cacheStatus?.hasPrefix("larder; hit") == true
                    && app.people.requests.count == 2
            )
            let pinned = try app.database.read { db in try db.pinnedURLs() }
            #expect(pinned.contains("https://robots.test/zoe.png?size=50x50&set=set1"))
        }
    }

    @Test("NOTE-07 A spent quota of the people API does not affect avatars, which are on another host")
    func avatarBesidesQuota() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            app.people.always { (_) throws(UpstreamError) in
                .json("{}", status: .tooManyRequests, headerFields: [.retryAfter: "3600"])
            }
            #expect(try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)["meta.stale"] == true)
            app.people.always { (_) throws(UpstreamError) in IncomingResponse(status: .ok, body: TestPicture.greyPixel)
            }
            #expect(Array(try await app.get("/v1/notes/people/1/avatar", as: token).body) == TestPicture.greyPixel)
        }
    }

    @Test("NOTE-07 Without an avatar, or if it is unavailable or no picture, a placeholder is sent and not stored")
    func placeholder() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            func expectPlaceholder(_ path: String, _ fields: HTTPFields = [:]) async throws {
                let response = try await app.get(path, as: token, fields)
                #expect(
                    response.status == 200 && response.cacheStatus?.contains("detail=placeholder") == true
                        && response.headerFields[.cacheControl] == "no-store"
                )
            }
            try await expectPlaceholder("/v1/notes/people/2/avatar")
            app.people.goAway()
            try await expectPlaceholder("/v1/notes/people/1/avatar")
            // ONE-12: a host that is away, and a picture that is missing, are known for a while.
            app.people.always { (_) throws(UpstreamError) in .json("<html>") }
            for seconds in [0, 5, 0, 59] {
                app.clock.advance(by: .seconds(seconds))
                try await expectPlaceholder("/v1/notes/people/1/avatar")
            }
            #expect(app.people.requests.count == 3)
            let big = TestPicture.greyPixel + Array(repeating: 0, count: PeopleClient.largestAvatar)
            app.people.always { (_) throws(UpstreamError) in IncomingResponse(status: .ok, headerFields: [:], body: big)
            }
            try await expectPlaceholder("/v1/notes/people/3/avatar")
            try await app.get("/v1/notes/people/1/avatar", as: token, [.cacheControl: "only-if-cached"]).expectProblem(
                "not-in-cache",
                504
            )
            app.clock.advance(by: .seconds(1))
            app.people.always { (_) throws(UpstreamError) in IncomingResponse(status: .ok, body: TestPicture.greyPixel)
            }
            #expect(Array(try await app.get("/v1/notes/people/1/avatar", as: token).body) == TestPicture.greyPixel)
        }
    }

    @Test("NOTE-07 Avatars of replaced people may be evicted, those of the others may not")
    func unpinned() async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            app.people.always { (_) throws(UpstreamError) in IncomingResponse(status: .ok, body: TestPicture.greyPixel)
            }
            for id in [1, 3] { _ = try await app.get("/v1/notes/people/\(id)/avatar", as: token) }
            app.people.always { (_) throws(UpstreamError) in
                .json(#"[{"id":9,"first_name":"Carl","avatar":"https://robots.test/carl.png"}]"#)
            }
            _ = try await app.get("/v1/notes/people?refresh=1&replace=1", as: token)
            #expect(
                try app.database.read { db in try db.pinnedURLs() } == [
                    "https://people.test/api/schema?count=3", "https://robots.test/carl.png",
                ]
            )
        }
    }

    @Test("NOTE-06 SRV-11 The key is sent in a header field to the API only, and neither stored nor shown")
    func key() async throws {
        let directory = try DataDirectory.temporary()
        try await NotesHarness.run(directory: directory, settings: .notes.with(NotesApp.peopleKey, "hush-hush")) {
            app in
            let token = try await app.register()
            let list = try await app.get("/v1/notes/people", as: token)
            let request = try #require(app.people.requests.first)
            #expect(
                request.headerFields.contains { $0.name.canonicalName == "x-api-key" && $0.value == "hush-hush" }
                    && !request.url.contains("hush")
            )
            _ = try await app.get("/v1/notes/people/1/avatar", as: token)
            #expect(app.people.requests.count == 2)
            #expect(
                app.people.requests[1].headerFields.allSatisfy { $0.name.canonicalName != "x-api-key" },
                "the host of pictures is another"
            )
            #expect(!list.text.contains("hush"))
            for file in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
                let bytes = FileManager.default.contents(atPath: "\(directory.path)/\(file)") ?? Data()
                #expect(bytes.range(of: Data("hush".utf8)) == nil, "\(file)")
            }
        }
    }

    @Test(
        "NOTE-13 A truncated or false avatar is not kept, and the next request has the whole one",
        arguments: [
            Array(TestPicture.greyPixel.dropLast()), Array(TestPicture.greyPixel.dropLast(10)),
            Array(TestPicture.greyPixel.prefix(8)),
            Array(TestPicture.greyPixel.prefix(8)) + [1, 2, 3, 4],
            Array(TestPicture.greyPixel.prefix(43)) + [0] + Array(TestPicture.greyPixel.dropFirst(44)),
        ]
    )
    func truncated(bytes: [UInt8]) async throws {
        try await NotesHarness.run { app, token in
            _ = try await app.get("/v1/notes/people", as: token)
            app.people.always { (_) throws(UpstreamError) in
                IncomingResponse(status: .ok, headerFields: [:], body: bytes)
            }
            let placeholder = try await app.get("/v1/notes/people/1/avatar", as: token)
            #expect(placeholder.cacheStatus?.contains("detail=placeholder") == true)
            app.people.always { (_) throws(UpstreamError) in IncomingResponse(status: .ok, body: TestPicture.greyPixel)
            }
            #expect(Array(try await app.get("/v1/notes/people/1/avatar", as: token).body) == TestPicture.greyPixel)
        }
    }

    @Test("NOTE-11 A word is found behind the characters of a name that people are ordered by, too")
    func longName() async throws {
        let store = NoteStore(try .temporary(migrations: NoteStore.migrations))
        let people = [
            Person(id: 1, firstName: String(repeating: "a", count: 210) + " Quesne"),
            Person(id: 2, firstName: "Quesne"), Person(id: 3, firstName: "Anna", lastName: "Le Quesne"),
            Person(id: 4, firstName: "Laquesne"),
        ]
        let fetchedAt = Date(timeIntervalSince1970: 1_700_000_000)
        try await store.write(store.persistRows(of: people, fetchedAt: fetchedAt) { _ in })
        let (found, _) = try store.people(PageRequest(limit: 10), search: NameSearch("quesne"))
        #expect(found.rows.map(\.id).sorted() == [1, 2, 3] && found.total == 3)
    }

    @Test(
        "NOTE-11 People are searched by the beginnings of the words of their names",
        arguments: [
            ("zoe", ["Zoë Le Quesne"]), ("QUES", ["Zoë Le Quesne"]), ("abel carl", ["Carl Abel"]), ("uesne", []),
            ("zoe abel", []), ("", ["adam", "Carl Abel", "Zoë Le Quesne"]),
            ("!", []), ("👨", []), ("a", ["adam", "Carl Abel"]),
        ]
    )
    func search(question: String, expected: [String]) async throws {
        try await NotesHarness.run { app, token in
            let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let list = try await app.get("/v1/notes/people?q=\(query)", as: token)
            #expect(list.all("full_name", in: "data.items") == expected.map { .string($0) })
            #expect(list["meta.page.total"] == .number(Double(expected.count)))
            #expect(list["meta.state"] == (expected.isEmpty ? "empty" : "content"))
            #expect(list["data.empty.title"] == (expected.isEmpty ? "No Matching People" : nil))
        }
    }
}
