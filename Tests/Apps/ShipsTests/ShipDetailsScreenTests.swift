import Foundation
import Screens
import TestKit
import Testing

@testable import Ships

@Suite("Texts of the screens")
struct ShipDetailsScreenTests {
    private let bare = Ship(id: "x1", name: "Bare", roles: [], isActive: false)

    private func wire(_ value: some Encodable) throws -> String {
        String(decoding: try WireFormat.encode(value), as: UTF8.self)
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
                "weight_kg":502999,"weight_kg_text":"502999 kg","year_built":2009,"year_built_text":"2009"}
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
            (266_712.0, "266712 kg"), (0, "0 kg"), (12.5, "12.5 kg"), (4_616_663, "4616663 kg"),
            (1e14, "100000000000000 kg"), (1e20, "1e+20 kg"),
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
                ShipListing.Entry(id: "x1", sortKey: "bare", name: "Bare", type: nil, yearBuilt: nil, isListed: false)
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
        #expect(try wire(Sessions.farewell(to: .user)) == #"{"alert":null,\#(login)}"#)
        #expect(
            try wire(Sessions.farewell(to: .guest))
                == #"{"alert":{"button":"OK","message":"Thank you for trialing this app"},\#(login)}"#
        )
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
