import Concurrency
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Ships

@Suite("Details over HTTP")
struct ShipDetailsTests {
    @Test("SHIP-11 details show image, name, type, year, weight, port and roles")
    func whole() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            let response = try await app.get("/v1/ships/b0b", as: token)
            response.expectScreen("ships.details")
            #expect(response["data.weight_kg_text"] == "502,999 kg")
            #expect(response["data.weight_kg"] == 502_999)
            #expect(response["data.roles_text"] == "Barge Tug, Support Ship")
            #expect(response["data.home_port_text"] == "Port Made")
            #expect(response["data.year_built_text"] == "2009")
            #expect(response["data.type_text"] == "Tug")
            #expect(response["data.image_url"] == "/v1/ships/b0b/image")
            #expect(response["links.self"] == "/v1/ships/b0b")
            #expect(response["meta.source"] == "upstream")
            #expect(response.cacheStatus == "larder; hit; ttl=5")
            #expect(app.spaceX.requests.count == 1, "the list feeds the details")
        }
    }

    @Test("SHIP-11 what is null is N/A")
    func nulls() async throws {
        try await ShipsHarness.run { app in
            let response = try await app.get("/v1/ships/a1", as: app.logIn())
            #expect(response["meta.source"] == "upstream")
            for name in ["type", "year_built", "weight_kg", "home_port"] {
                #expect(response["data.\(name)"] == .null)
                #expect(response["data.\(name)_text"] == "N/A")
            }
            #expect(response["data.roles"] == [])
            #expect(response["data.roles_text"] == "N/A")
        }
    }

    @Test("SHIP-11 offline details carry the banner")
    func offline() async throws {
        try await ShipsHarness.run { app, token in
            _ = try await app.get("/v1/ships", as: token)
            app.spaceX.become(.unreachable(.refused))
            let response = try await app.get("/v1/ships/b0b?refresh=1", as: token)
            #expect(response["data.name"] == "bob")
            #expect(response["meta.offline"] == true)
            #expect(response["meta.stale"] == true)
            #expect(response["meta.banner.code"] == "offline")
        }
    }

    @Test(
        "ids that belong to no ship are 404, whatever they look like",
        arguments: [
            "none", "5ea6ed2e080df4000697c90a", "..%2F..%2Fetc%2Fpasswd", "%2e%2e", "b0b%20", "B0B", "%F0%9F%9A%A2",
            "caf%C3%A9", "%27%20OR%201=1--",
            String(repeating: "a", count: 4000),
        ]
    )
    func unknown(id: String) async throws {
        try await ShipsHarness.run { app, token in
            try await app.get("/v1/ships/\(id)", as: token).expectProblem("not-found", 404)
            try await app.get("/v1/ships/\(id)/image", as: token).expectProblem("not-found", 404)
            try await app.ask(.delete, "/v1/ships/\(id)", as: token).expectProblem("not-found", 404)
            #expect(app.spaceX.requests.allSatisfy { $0.url == "https://api.test/v4/ships" })
        }
    }

    @Test("an id that is no UTF-8, or holds a NUL, is a malformed request")
    func bytes() async throws {
        try await ShipsHarness.run { app in
            try await app.get("/v1/ships/%FF%FE", as: app.logIn()).expectProblem("malformed-request", 400)
            try await app.ask(.delete, "/v1/ships/b0b%00", as: app.logIn()).expectProblem("malformed-request", 400)
        }
    }

    @Test("SHIP-08 details of a deleted ship are 404 ship-deleted for the account that deleted it")
    func deleted() async throws {
        try await ShipsHarness.run { app in
            let (me, you) = (try await app.logIn("me@here.org"), try await app.logIn("you@here.org"))
            _ = try await app.get("/v1/ships", as: me)
            _ = try await app.ask(.delete, "/v1/ships/b0b", as: me)
            try await app.get("/v1/ships/b0b", as: me).expectProblem("ship-deleted", 404)
            try await app.get("/v1/ships/b0b/image", as: me).expectProblem("ship-deleted", 404)
            #expect(try await app.get("/v1/ships/b0b", as: you).status == 200)
        }
    }
}

@Suite("Texts of the screens")
struct ShipDetailsScreenTests {
    private let bare = Ship(id: "x1", name: "Bare", roles: [], isActive: false)

    private func wire(_ value: some Encodable) throws -> String {
        try String(decoding: WireFormat.encode(value), as: UTF8.self).sortedJSON
    }

    @Test("SHIP-11 details say everything raw and in words")
    func details() throws {
        let ship = try #require(try ShipFixtures.ships([ShipFixtures.bob]).first)
        #expect(
            try wire(ShipDetailsScreen(ship))
                == """
                {"active":true,"home_port":"Port Made","home_port_text":"Port Made","id":"b0b",\
                "image_url":"/v1/ships/b0b/image","name":"bob","roles":["Barge Tug","Support Ship"],\
                "roles_text":"Barge Tug, Support Ship","type":"Tug","type_text":"Tug","upstream_present":true,\
                "weight_kg":502999,"weight_kg_text":"502,999 kg","year_built":2009,"year_built_text":"2009"}
                """
        )
    }

    @Test("SHIP-11 nothing is null and N/A")
    func nothing() throws {
        #expect(
            try wire(ShipDetailsScreen(bare))
                == """
                {"active":false,"home_port":null,"home_port_text":"N/A","id":"x1","image_url":"/v1/ships/x1/image",\
                "name":"Bare","roles":[],"roles_text":"N/A","type":null,"type_text":"N/A","upstream_present":true,\
                "weight_kg":null,"weight_kg_text":"N/A","year_built":null,"year_built_text":"N/A"}
                """
        )
    }

    @Test(
        "weights are written in plain figures",
        arguments: [
            (266_712.0, "266,712 kg"), (0, "0 kg"), (12.5, "12.5 kg"), (4_616_663, "4,616,663 kg"),
            (1e14, "100,000,000,000,000 kg"), (1e20, "100,000,000,000,000,000,000 kg"),
        ]
    )
    func weights(kilograms: Double, text: String) {
        var ship = bare
        ship.massKilograms = kilograms
        #expect(ShipDetailsScreen(ship).weightKgText.english == text)
    }

    @Test("a ship that the API lists no more says so")
    func vanished() {
        var ship = bare
        ship.isListed = false
        #expect(!ShipDetailsScreen(ship).upstreamPresent)
        #expect(
            !ShipListScreen.Row(
                ShipPage.Entry(id: "x1", sortKey: "bare", name: "Bare", type: nil, yearBuilt: nil, isListed: false)
            )
            .upstreamPresent
        )
    }

    @Test("SHIP-05 users log out, guests exit")
    func button() throws {
        for (kind, title) in [(Session.Kind.user, "Logout"), (.guest, "Exit")] {
            #expect(
                try wire(Action.leave(kind))
                    == #"{"confirm":null,"enabled":true,"href":"/v1/ships/session","id":"logout","method":"DELETE","#
                    + #""title":"\#(title)"}"#
            )
        }
    }

    @Test("SHIP-05 guests are thanked, users just leave")
    func farewell() throws {
        let login = #""route":{"href":"/v1/ships/session","method":"POST","screen":"ships.session"}"#
        let logins = #""actions":\#(try wire(ShipsApp.logins))"#
        #expect(try wire(ShipsApp.farewell(to: .user)) == #"{\#(logins),"alert":null,\#(login)}"#)
        let alert = #"{"button":"OK","message":"Thank you for trialing this app"}"#
        #expect(try wire(ShipsApp.farewell(to: .guest)) == #"{\#(logins),"alert":\#(alert),\#(login)}"#)
    }

    @Test("SHIP-09 the banner has the apostrophe U+2019 and its full stop")
    func banner() throws {
        #expect(Banner.shipsOffline.text.english.unicodeScalars.contains("\u{2019}"))
        #expect(
            try wire(Banner.shipsOffline)
                == #"{"code":"offline","dismiss":"on_online","text":"No internet connection. "#
                + #"You\#u{2019}re in Offline mode."}"#
        )
    }
}
