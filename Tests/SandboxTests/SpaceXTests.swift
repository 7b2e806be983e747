import HTTPTypes
import JSONValues
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
