import AsyncHTTPClient
import HTTPTypes
import JSONValues
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

@Suite struct SpaceXTests {
    private let upstream: SpaceX
    private let origin = "http://127.0.0.1:4711"

    init() throws { upstream = try SpaceX(seed: 1) }

    private func response(_ path: String, headers: HTTPFields = [:]) -> UpstreamResponse {
        response(.get, path, headers: headers)
    }

    private func response(_ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String = "")
        -> UpstreamResponse
    {
        upstream.response(method, path, headers: headers, body: body, origin: origin)
    }

    private func ships() throws -> [JSONObject] {
        try #require(try JSONParser.parse(response("/v4/ships").body).array).compactMap(\.object)
    }

    @Test("the list comes under both prefixes, byte for byte the same each time")
    func list() throws {
        let list = response("/v4/ships")
        #expect(list.status == .ok)
        #expect(list.body == response("/latest/ships").body)
        let other = try SpaceX(seed: 2)
        #expect(
            list.body == other.respond(to: UpstreamRequest(method: .get, path: ["v4", "ships"], origin: origin)).body
        )
        #expect(try ships().count >= 29)
    }

    @Test("the response carries the recorded fields")
    func headers() {
        let headers = response("/v4/ships").headers
        #expect(headers[.contentType] == "application/json; charset=utf-8")
        #expect(headers[.cacheControl] == "max-age=300")
        #expect(headers[.vary] == "Accept-Encoding, Origin")
        #expect(headers[.accessControlAllowOrigin] == "*")
        #expect(headers[.name("spacex-api-cache-online")] == "true")
        #expect(headers[.name("spacex-api-cache")] == "MISS")
        #expect(response("/v4/ships").headers[.name("spacex-api-cache")] == "HIT")
    }

    @Test("the entity tag is made like the recorded ones")
    func entityTag() {
        // The tag that every server with the npm package `etag` gives an empty body.
        #expect(EntityTag.strong(for: []) == #""0-2jmj7l5rSw0yVb/vlWAYkK/YBwk""#)
        let list = response("/v4/ships")
        #expect(list.headers[.eTag] == EntityTag.strong(for: list.body))
    }

    @Test("a matching condition gives 304 without a body", arguments: ["TAG", "W/TAG", "\"other\", TAG", "*"])
    func notModified(condition: String) throws {
        let tag = try #require(response("/v4/ships").headers[.eTag])
        let response = response("/v4/ships", headers: [.ifNoneMatch: condition.replacing("TAG", with: tag)])
        #expect(response.status == .notModified && response.body.isEmpty)
        #expect(
            response.headers[.eTag] == tag && response.headers[.cacheControl] == "max-age=300"
                && response.headers[.contentType] == nil
        )
    }

    @Test("another tag gives the whole response, and a query has no conditions")
    func modified() throws {
        #expect(response("/v4/ships", headers: [.ifNoneMatch: "\"0-x\""]).status == .ok)
        let tag = try #require(response(.post, "/v4/ships/query").headers[.eTag])
        #expect(response(.post, "/v4/ships/query", headers: [.ifNoneMatch: tag]).status == .ok)
    }

    @Test("one ship is the list's own record")
    func ship() throws {
        let first = try #require(try ships().first)
        let id = try #require(first["id"]?.string)
        #expect(response("/v4/ships/\(id)").body == JSONValue.object(first).serialized())
    }

    @Test(
        "what is not there is 404 in plain text",
        arguments: [
            "/v4/ships/70ca00000000000000000000", "/v4/ships/x", "/v4/rockets", "/v5/ships", "/", "/v4", "/images",
            "/images/a/b",
        ]
    )
    func notFound(path: String) {
        let response = response(path)
        #expect(response.status == .notFound && response.body == Array("Not Found".utf8))
        #expect(response.headers[.contentType] == "text/plain; charset=utf-8")
    }

    @Test(
        "writing is 401",
        arguments: [(HTTPRequest.Method.post, "/v4/ships"), (.patch, "/v4/ships/1"), (.delete, "/v4/ships/1")]
    )
    func writing(method: HTTPRequest.Method, path: String) {
        #expect(response(method, path).status == .unauthorized)
    }

    @Test("a query returns a page, a wrong one 400 in plain text")
    func query() throws {
        let page = try #require(
            try JSONParser.parse(response(.post, "/v4/ships/query", body: #"{"query":{"active":true}}"#).body).object
        )
        #expect(page["totalDocs"] == 15 && page["docs"]?.array?.count == 10)
        let wrong = response(.post, "/v4/ships/query", body: "[")
        #expect(wrong.status == .badRequest && wrong.headers[.contentType] == "text/plain; charset=utf-8")
    }

    @Test("every picture of the data leads where its kind says")
    func pictures() throws {
        var kinds: [String: Int] = [:]
        for image in try ships().compactMap({ $0["image"]?.string }) {
            #expect(image.hasPrefix(origin + "/spacex/"))
            let response = response(String(image.dropFirst(origin.count + 7)))
            kinds["\(response.status.code) \(response.headers[.contentType] ?? "")", default: 0] += 1
            if let location = response.headers[.location], location.hasPrefix(origin) {
                #expect(
                    self.response(String(location.dropFirst(origin.count + 7))).headers[.contentType] == "image/png"
                )
            }
        }
        #expect(
            kinds == [
                "200 image/png": 23, "200 text/html; charset=utf-8": 1, "404 text/plain; charset=utf-8": 1,
                "302 text/plain; charset=utf-8": 2,
            ]
        )
        #expect(response("/images/elsewhere/a.png").headers[.location] == "https://pictures.example/a.png")
    }

    @Test("a picture has a tag and is 304 with it")
    func pictureCondition() throws {
        let picture = response("/images/osprey.png")
        #expect(picture.headers[.cacheControl] == "public, max-age=86400")
        #expect(
            response("/images/osprey.png", headers: [.ifNoneMatch: try #require(picture.headers[.eTag])]).status
                == .notModified
        )
    }
}

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

@Suite struct ShipRecordsTests {
    private func ships() throws -> [JSONObject] {
        try #require(try JSONParser.parse(PackageResources.ships_json).array).compactMap(\.object)
    }

    @Test("every ship has the 24 keys in their order and its required fields")
    func schema() throws {
        let ships = try ships()
        #expect(ships.count >= 29)
        for ship in ships {
            #expect(ship.members.map(\.name) == Ship.keys)
            #expect(Ship.isIdentifier(ship["id"]?.string ?? ""))
            #expect(ship["name"]?.string?.isEmpty == false)
            #expect(
                ship["active"]?.bool != nil && ship["roles"]?.array?.isEmpty == false
                    && ship["launches"]?.array?.isEmpty == false
            )
        }
        #expect(Set(ships.compactMap { $0["id"]?.string }).count == ships.count)
    }

    @Test("the nulls are as frequent as in the dump")
    func nulls() throws {
        let ships = try ships()
        let nulls = { (key: String) in ships.count { $0[key] == .null } }
        let expected = [
            "legacy_id": 7, "link": 5, "image": 3, "year_built": 3, "imo": 8, "mmsi": 5, "abs": 11, "class": 11,
            "mass_kg": 8, "mass_lbs": 8, "status": 12,
            "type": 0,
            "home_port": 0,
        ]
        for (key, count) in expected { #expect(nulls(key) == count, "\(key)") }
        for key in ["speed_kn", "course_deg", "last_ais_update"] { #expect(nulls(key) == ships.count, "\(key)") }
        for (key, given) in ["model": 3, "latitude": 2, "longitude": 2] {
            #expect(nulls(key) == ships.count - given, "\(key)")
        }
    }

    @Test("the data has the irregularities that a client has to handle")
    func oddities() throws {
        let ships = try ships()
        let names = ships.compactMap { $0["name"]?.string }
        #expect(Set(names).count == names.count)
        #expect(Set(names.map { $0.lowercased() }).count == names.count - 1, "two names are equal ignoring case")
        #expect(names.contains { $0.first?.isLowercase == true })
        #expect(names.contains { !$0.allSatisfy(\.isASCII) })
        #expect(ships.contains { $0["mass_kg"]?.double.map { $0 != $0.rounded() } ?? false })
        #expect(ships.contains { $0["year_built"] == .number("2010.0") })
        let images = ships.compactMap { $0["image"]?.string }
        #expect(images.allSatisfy { $0.hasPrefix("{origin}/spacex/images/") })
        for odd in ["showphoto.aspx", "missing.png", "moved/", "elsewhere/"] {
            #expect(images.count { $0.contains(odd) } == 1, "\(odd)")
        }
    }
}
