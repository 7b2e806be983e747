import HTTPTypes
import Screens
import Storage
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("The list over HTTP")
struct ShipListTests {
    @Test("A list from a cold start reads ships once for the merge and in three statements for the screen")
    func statements() async throws {
        try await ShipsHarness.run { app, token in
            let log = try await app.statements.statements {
                let list = try await app.get("/v1/ships", as: token)
                #expect(list.status == 200)
            }
            #expect(log.reads(of: "ship") == 4, "\(log)")
            #expect(log.reads(of: "session") == 1, "\(log)")
        }
    }

    @Test("SHIP-04 the first list is fetched: rows by name with image, name, type and year")
    func first() async throws {
        try await ShipsHarness.run { app in
            let response = try await app.get("/v1/ships", as: app.logIn())
            response.expectScreen("ships.list")
            #expect(response.cacheStatus == "larder; fwd=uri-miss; stored")
            #expect(response.age == "0")
            #expect(response.all("name", in: "data.items") == ["Alma", "bob", "Carl", "DORA"])
            let names: Set = ["items", "revision", "changes", "hidden_count", "nav_button", "actions"]
            #expect(response.names(in: "data") == names)
            #expect(
                response.names(in: "data.items.1") == [
                    "id", "name", "type", "type_text", "year_built", "year_built_text", "image_url", "href",
                    "upstream_present", "actions",
                ]
            )
            #expect(response["data.items.1.type"] == "Tug")
            #expect(response["data.items.1.year_built"] == 2009)
            #expect(response["data.items.1.image_url"] == "/v1/ships/b0b/image")
            #expect(response["data.items.1.href"] == "/v1/ships/b0b")
            #expect(response["data.items.0.type"] == .null)
            #expect(response["data.items.0.year_built"] == .null)
            #expect(response["data.items.0.image_url"] == "/v1/ships/a1/image")
            #expect(response["data.revision"] == 1)
            #expect(response["data.changes.added"] == ["a1", "b0b", "ca", "d0"])
            #expect(response["data.hidden_count"] == 0)
            #expect(response["meta.state"] == "content")
            #expect(response["meta.source"] == "upstream")
            #expect(response["meta.offline"] == false)
            #expect(response["meta.stale"] == false)
            #expect(response["meta.banner"] == .null)
            #expect(response["meta.fetched_at"] == "2026-01-05T10:00:00Z")
            #expect(response["meta.page.total"] == 4)
            #expect(response["links.self"] == "/v1/ships")
            #expect(response["links.next"] == .null)
            #expect(!response.text.contains("pictures.test"), "where pictures are is none of the client's business")
        }
    }

    @Test("SHIP-13 rows say in words all that they show")
    func texts() async throws {
        try await ShipsHarness.run { app in
            let list = try await app.get("/v1/ships", as: app.logIn())
            #expect(list.all("type_text", in: "data.items") == ["N/A", "Tug", "Barge", "Cargo"])
            #expect(list.all("year_built_text", in: "data.items") == ["N/A", "2009", "1976", "N/A"])
        }
    }

    @Test("SHIP-13 a ship whose id is a word of this API is opened, shown and deleted")
    func reservedWords() async throws {
        let words = ["launch", "restore", "session"]
        let ships = words.map { ShipFixtures.record($0, $0, #""image":"https://pictures.test/\#($0).png""#) }
        try await ShipsHarness.run(ScriptedSpaceX(.ships(ships))) { app, token in
            let list = try await app.get("/v1/ships", as: token)
            #expect(list.all("id", in: "data.items") == words.map { .string($0) })
            for (index, word) in words.enumerated() {
                guard case .string(let href) = list["data.items.\(index).href"],
                    case .string(let image) = list["data.items.\(index).image_url"]
                else { return #expect(Bool(false), "\(word) has no links") }
                let details = try await app.get(href, as: token)
                #expect(details.status == 200 && details["data.id"] == .string(word) && href == "/v1/ships/~\(word)")
                app.spaceX.showPicture(TestPicture.greyPixel, at: "https://pictures.test/\(word).png")
                #expect(try await Array(app.get(image, as: token).body) == TestPicture.greyPixel)
                #expect(details["data.image_url"] == .string(image))
                #expect(try await app.ask(.delete, href, as: token)["data.ids"] == [.string(word)])
            }
            #expect(try await app.get("/v1/ships", as: token)["meta.state"] == "empty")
            let restored = try await app.ask(.post, "/v1/ships/restore", as: token, body: #"{"ids":["restore"]}"#)
            #expect(restored["data.ids"] == ["restore"])
        }
    }

    @Test(
        "SHIP-13 a ship with any id is listed, opened, deleted and restored; an id that is none is left out",
        arguments: [
            "~", "~restore", ".", "..", "a/b", "a b", "é", "e\u{301}", "😀", "x?y", "a#b", "a%b", "%2e%2e", "a+b",
            "a&b=c",
            "a;b:c", "a\\\\b", "a\\\"b", "<script>", "\u{202E}", "a\\nb", String(repeating: "я", count: 128),
            "ID.with-dots",
        ]
    )
    func oddIdentities(json: String) async throws {
        let none = ["", " ", "a\\u0000b", String(repeating: "a", count: 257)].map { ShipFixtures.record($0, "None") }
        let ships = none + [ShipFixtures.record(json, "Odd", #""image":"https://pictures.test/odd.png""#)]
        try await ShipsHarness.run(ScriptedSpaceX(.ships(ships))) { app, token in
            let list = try await app.get("/v1/ships", as: token)
            #expect(list.all("name", in: "data.items") == ["Odd"] && list["meta.stale"] == false)
            guard case .string(let href) = list["data.items.0.href"],
                case .string(let image) = list["data.items.0.image_url"], case .string(let id) = list["data.items.0.id"]
            else { return #expect(Bool(false), "no links") }
            #expect(href.allSatisfy { $0.isASCII } && !href.dropFirst("/v1/ships/".count).contains("/"))
            let details = try await app.get(href, as: token)
            #expect(details.status == 200 && details["data.id"] == .string(id), "\(href): \(details.text)")
            app.spaceX.showPicture(TestPicture.greyPixel, at: "https://pictures.test/odd.png")
            #expect(try await Array(app.get(image, as: token).body) == TestPicture.greyPixel)
            #expect(try await app.ask(.delete, href, as: token)["data.ids"] == [.string(id)])
            let body = #"{"ids":["\#(json)"]}"#
            let restored = try await app.ask(.post, "/v1/ships/restore", as: token, body: body)
            #expect(restored["data.ids"] == [.string(id)], "\(restored.text)")
            // As the API writes it, in whatever normalization, it stays the same ship.
            _ = try await app.get("/v1/ships?refresh=1", as: token)
            #expect(try await app.get("/v1/ships", as: token)["data.revision"] == restored["data.revision"])
        }
    }

    @Test("SHIP-05 the button says Logout to users and Exit to guests")
    func button() async throws {
        try await ShipsHarness.run { app in
            #expect(try await app.get("/v1/ships", as: app.logIn())["data.nav_button.title"] == "Logout")
            let guest = try await app.get("/v1/ships", as: app.enterAsGuest())
            #expect(guest["data.nav_button.title"] == "Exit")
            #expect(guest["data.nav_button.id"] == "logout")
            #expect(guest["data.nav_button.method"] == "DELETE")
            #expect(guest["data.nav_button.href"] == "/v1/ships/session")
        }
    }

    @Test("SHIP-06 SRV-06 a poll that is slower than the freshness gets 304 for as long as no ship changes")
    func slowPoll() async throws {
        try await ShipsHarness.run { app, token in
            let first = try await app.get("/v1/ships", as: token)
            let tag = try #require(first.headerFields[.eTag])
            for _ in 0..<3 {
                app.clock.advance(by: .seconds(6))
                let poll = try await app.get("/v1/ships", as: token, [.ifNoneMatch: tag])
                #expect(poll.status == 304 && poll.body.isEmpty && poll.age == "0")
                #expect(poll.cacheStatus == "larder; fwd=stale; fwd-status=304")
            }
            app.spaceX.become(.ships([ShipFixtures.alma]))
            app.clock.advance(by: .seconds(6))
            let changed = try await app.get("/v1/ships", as: token, [.ifNoneMatch: tag])
            #expect(changed.status == 200 && changed["meta.fetched_at"] == "2026-01-05T10:00:24Z")
        }
    }

    @Test("SHIP-06 within its freshness the list comes from the database, then the upstream is requested again")
    func freshness() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.clock.advance(by: .seconds(3))
            let fresh = try await app.get("/v1/ships", as: token)
            #expect(fresh.cacheStatus == "larder; hit; ttl=2")
            #expect(fresh.age == "3")
            #expect(fresh["meta.source"] == "upstream")
            #expect(fresh["meta.stale"] == false)
            #expect(app.spaceX.requests.count == 1)
            app.clock.advance(by: .seconds(3))
            let revalidated = try await app.get("/v1/ships", as: token)
            #expect(revalidated.cacheStatus == "larder; fwd=stale; fwd-status=304")
            #expect(revalidated.age == "0")
            #expect(revalidated["meta.source"] == "upstream")
            #expect(app.spaceX.requests.last?.headerFields[.ifNoneMatch] != nil)
            app.spaceX.become(.ships([ShipFixtures.alma]))
            app.clock.advance(by: .seconds(6))
            let changed = try await app.get("/v1/ships", as: token)
            #expect(changed.cacheStatus == "larder; fwd=stale; fwd-status=200; stored")
            #expect(changed.all("upstream_present", in: "data.items") == [true, false, false, false])
        }
    }

    @Test(
        "SHIP-06 pulling to refresh requests the upstream although the list is fresh",
        arguments: [
            ("/v1/ships?refresh=1", nil), ("/v1/ships?refresh", nil), ("/v1/ships", "no-cache"),
            ("/v1/ships", "max-age=0"), ("/v1/ships", "No-Cache, foo"),
        ]
    )
    func refresh(target: String, cacheControl: String?) async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.ships(ShipFixtures.fleet + [ShipFixtures.record("e0", "Eve")]))
            let response = try await app.get(target, as: token, cacheControl.map { [.cacheControl: $0] } ?? [:])
            #expect(response.cacheStatus == "larder; fwd=request; fwd-status=200; stored")
            #expect(response["data.changes.added"] == ["e0"])
            #expect(response["data.changes.since"] == 1)
            #expect(response["links.self"] == "/v1/ships")
            #expect(app.spaceX.requests.count == 2)
        }
    }

    @Test("only-if-cached never requests: 504 if nothing is stored, the stored list afterwards, however old")
    func onlyIfCached() async throws {
        try await ShipsHarness.run { app, token in
            try await app.get("/v1/ships", as: token, [.cacheControl: "only-if-cached"]).expectProblem(
                "not-in-cache",
                504
            )
            #expect(app.spaceX.requests.isEmpty)
            _ = try await app.get("/v1/ships", as: token)
            app.clock.advance(by: .seconds(100))
            let response = try await app.get("/v1/ships", as: token, [.cacheControl: "only-if-cached"])
            #expect(response["meta.stale"] == true)
            #expect(response["meta.offline"] == false)
            #expect(response.cacheStatus == "larder; hit; ttl=-95")
            #expect(app.spaceX.requests.count == 1)
        }
    }

    @Test("the body changes with the data only, so an unchanged list is 304 without a body")
    func notModified() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let response = try await app.get("/v1/ships", as: token)
            let tag = try #require(response.headerFields[.eTag])
            app.clock.advance(by: .seconds(2))
            let unchanged = try await app.get("/v1/ships", as: token, [.ifNoneMatch: tag])
            #expect(unchanged.status == 304)
            #expect(unchanged.body.isEmpty)
            #expect(unchanged.headerFields[.eTag] == tag)
            #expect(unchanged.cacheStatus == "larder; hit; ttl=3")
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            #expect(try await app.get("/v1/ships", as: token, [.ifNoneMatch: tag]).status == 200)
        }
    }

    @Test("HEAD has the head of GET, without the body")
    func head() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let get = try await app.get("/v1/ships", as: token)
            let head = try await app.ask(.head, "/v1/ships", as: token)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.headerFields[.contentLength] == String(get.body.count))
            #expect(head.headerFields[.eTag] == get.headerFields[.eTag])
        }
    }

    @Test("pages follow their links without gap or overlap")
    func pages() async throws {
        try await ShipsHarness.run { app, token in
            var names: [JSON] = []
            var next: String? = "/v1/ships?limit=3&since_revision=0"
            var visited = 0
            while let target = next, visited < 9 {
                let response = try await app.get(target, as: token)
                names += response.all("name", in: "data.items")
                visited += 1
                if case .string(let link) = response["links.next"] { next = link } else { next = nil }
                #expect(response["meta.page.has_more"] == .bool(next != nil))
            }
            #expect(visited == 2)
            #expect(names == ["Alma", "bob", "Carl", "DORA"])
            let past = try await app.get("/v1/ships?offset=9223372036854775807&limit=500", as: token)
            #expect(past.status == 200)
            #expect(past["data.items"] == [])
            #expect(past["meta.state"] == "content")
            #expect(past["meta.page.has_more"] == false)
            #expect(past["links.next"] == .null)
        }
    }

    @Test("a cursor page has no offset, continues where a deleted ship was, and any limit fits")
    func cursor() async throws {
        try await ShipsHarness.run { app, token in
            let first = try await app.get("/v1/ships?limit=2&offset=0&since_revision=0", as: token)
            #expect(first["meta.page.offset"] == 0 && first["meta.page.next_offset"] == 2)
            guard case .string(let next) = first["links.next"] else { return #expect(Bool(false), "no next page") }
            #expect(next.hasPrefix("/v1/ships?since_revision=0&cursor=") && next.hasSuffix("&limit=2"))
            _ = try await app.ask(.delete, "/v1/ships/a1", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            let second = try await app.get(next.replacing("&limit=2", with: "&limit=1"), as: token)
            #expect(second.all("name", in: "data.items") == ["Carl"] && second["meta.page.has_more"] == true)
            #expect(second["meta.page.offset"] == .null && second["meta.page.next_offset"] == .null)
            #expect(second["meta.page.total"] == 2 && second["links.self"] == .string(next.replacing("=2", with: "=1")))
            let last = try await app.get(next, as: token)
            #expect(last.all("name", in: "data.items") == ["Carl", "DORA"] && last["links.next"] == .null)
            try await app.get(next + "&offset=2", as: token).expectProblem("invalid-parameter", 400)
        }
    }

    @Test(
        "parameters out of range are 400 and named; nothing is asked of the upstream",
        arguments: [
            ("limit", "0"), ("limit", "-1"), ("limit", "501"), ("limit", "abc"), ("limit", ""), ("limit", "1.0"),
            ("limit", "99999999999999999999"),
            ("limit", "1&limit=2"),
            ("limit", "%2B5"), ("limit", "٥"), ("offset", "-1"), ("offset", "x"), ("offset", "9223372036854775808"),
            ("since_revision", "-1"),
            ("since_revision", "x"),
            ("since_revision", "9223372036854775808"), ("since_revision", "1&since_revision=1"), ("refresh", "yes"),
            ("refresh", "1&refresh=1"), ("cursor", ""), ("cursor", "x"), ("cursor", "eyJ2IjoyfQ"),
        ]
    )
    func parameters(name: String, value: String) async throws {
        try await ShipsHarness.run { app in
            let response = try await app.get("/v1/ships?\(name)=\(value)", as: app.logIn())
            response.expectProblem("invalid-parameter", 400)
            #expect(response.all("parameter", in: "errors") == [.string(name)])
            #expect(app.spaceX.requests.isEmpty)
        }
    }

    @Test("parameters that the screen does not know are refused; those that look odd are read right")
    func unknown() async throws {
        try await ShipsHarness.run { (app, token) async throws in
            for query in [
                "?limit=500", "?li%6Dit=5&offset=00", "?&&", "?since_revision=9223372036854775807",
            ] {
                #expect(
                    try await app.get("/v1/ships" + query, as: token).all("id", in: "data.items").count == 4,
                    "\(query)"
                )
            }
            for query in ["?page=2", "?=1"] {
                #expect(try await app.get("/v1/ships" + query, as: token).status == 400, "\(query)")
            }
        }
    }

    @Test("SHIP-10 the response says what changed since a revision, for the account that asks")
    func changes() async throws {
        try await ShipsHarness.run { app in
            let (me, you) = (try await app.logIn("me@here.org"), try await app.logIn("you@here.org"))
            #expect(try await app.get("/v1/ships", as: me)["data.revision"] == 1)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: me)
            app.spaceX.become(
                .ships([
                    ShipFixtures.alma, ShipFixtures.bob, ShipFixtures.record("ca", "Carla"),
                    ShipFixtures.record("e0", "Eve"),
                ])
            )
            let mine = try await app.get("/v1/ships?since_revision=1&refresh=1", as: me)
            #expect(mine["data.revision"] == 3)
            #expect(mine["meta.revision"] == 3)
            #expect(mine["data.changes.since"] == 1)
            #expect(mine["data.changes.added"] == ["e0"])
            #expect(mine["data.changes.updated"] == ["ca", "d0"])
            #expect(mine["data.changes.removed"] == ["b0b"])
            #expect(mine["data.hidden_count"] == 1)
            let yours = try await app.get("/v1/ships?since_revision=1", as: you)
            #expect(yours["data.changes.removed"] == [])
            #expect(yours["data.hidden_count"] == 0)
            let future = try await app.get("/v1/ships?since_revision=4", as: me)
            #expect(future["data.changes.since"] == 0)
            #expect(future["data.changes.added"] == ["a1", "ca", "d0", "e0"])
        }
    }

    @Test("with every ship deleted the list is empty, and says how to get on")
    func empty() async throws {
        try await ShipsHarness.run(ScriptedSpaceX(.ships([ShipFixtures.bob]))) { app, token in
            _ = try await app.get("/v1/ships", as: token)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: token)
            let response = try await app.get("/v1/ships", as: token)
            #expect(response["meta.state"] == "empty")
            #expect(response["data.items"] == [])
            #expect(response.names(in: "data.empty") == ["title", "text", "button", "action"])
            #expect(response["data.hidden_count"] == 1)
            #expect(response["meta.page.total"] == 0)
        }
    }
}
