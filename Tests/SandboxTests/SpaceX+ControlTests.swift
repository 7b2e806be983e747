import AsyncHTTPClient
import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

private let newID = "70ca00000000000000000001"

@Suite struct SpaceXControlTests {
    @Test("SRV-10 a patched ship changes in the list and by itself, and with it the entity tag")
    func patch() async throws {
        try await withSandbox { sandbox in
            let before = try await sandbox.get("/spacex/v4/ships")
            let first = try #require(try JSONParser.parse(before.bytes).array?.first?.object)
            let id = try #require(first["id"]?.string)
            let response = try await sandbox.send(
                .PUT,
                "/_sandbox/spacex/ships/\(id)",
                body: #"{"name":"Renamed","image":null,"year_built":1.5e3}"#
            )
            #expect(response.status == 200)
            let after = try await sandbox.get("/spacex/v4/ships")
            #expect(after.headers["etag"] != before.headers["etag"])
            let ship = try await sandbox.get("/spacex/v4/ships/\(id)").object()
            #expect(ship["name"] == "Renamed" && ship["image"] == .null && ship["year_built"] == .number("1.5e3"))
            #expect(ship.members.map(\.name) == Ship.keys && ship["roles"] == first["roles"])
            #expect(try JSONParser.parse(after.bytes).array?.first?.object == ship)
        }
    }

    @Test("a patch of an unknown id adds a ship with all keys; DELETE takes it away")
    func addAndRemove() async throws {
        try await withSandbox { sandbox in
            let original = try await sandbox.get("/spacex/v4/ships").body
            let response = try await sandbox.send(
                .PUT,
                "/_sandbox/spacex/ships/\(newID)",
                body: #"{"name":"New","image":"{origin}/spacex/images/new.png"}"#
            )
            #expect(response.status == 201)
            let ship = try await sandbox.get("/spacex/v4/ships/\(newID)").object()
            #expect(ship.members.map(\.name) == Ship.keys)
            #expect(ship["image"] == .string("http://127.0.0.1:\(sandbox.port)/spacex/images/new.png"))
            #expect(try await sandbox.send(.DELETE, "/_sandbox/spacex/ships/\(newID)").status == 200)
            #expect(try await sandbox.send(.DELETE, "/_sandbox/spacex/ships/\(newID)").status == 404)
            #expect(try await sandbox.get("/spacex/v4/ships/\(newID)").status == 404)
            #expect(try await sandbox.get("/spacex/v4/ships").body == original)
        }
    }

    @Test(
        "the whole answer can be any JSON",
        arguments: [#"{"error":"maintenance"}"#, "null", #"[{"id":"1"},7,{"name":null}]"#, "[]"]
    )
    func replace(data: String) async throws {
        try await withSandbox { sandbox in
            #expect(try await sandbox.send(.PUT, "/_sandbox/spacex/ships", body: data).status == 200)
            #expect(try await sandbox.get("/spacex/v4/ships").text == data)
            #expect(try await sandbox.get("/spacex/v4/ships/none").status == 404)
            #expect(try await sandbox.send(.POST, "/spacex/v4/ships/query").status == 200)
            let patched = try await sandbox.send(.PUT, "/_sandbox/spacex/ships/\(newID)", body: "{}")
            #expect(patched.status == (data.hasPrefix("[") ? 201 : 409))
        }
    }
}
