import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

@Suite struct PeopleTests {
    private let upstream = People(seed: 1)

    private func response(_ path: String, headers: HTTPFields = [:]) -> UpstreamResponse {
        upstream.response(.get, path, headers: headers)
    }

    private func control(_ path: String, _ body: String) throws -> UpstreamResponse {
        try upstream.control(ControlRequest(method: .put, path: RequestTarget(path).segments, body: Array(body.utf8)))
    }

    private func rows(_ response: UpstreamResponse) throws -> [JSONObject] {
        try #require(try JSONParser.parse(response.body).array).compactMap(\.object)
    }

    @Test("every call invents other people, with the numbers of their rows for ids")
    func random() throws {
        let first = try rows(response("/api/729a5c80?count=120&key=k"))
        let second = try rows(response("/api/729a5c80?count=120&key=k"))
        #expect(first.count == 120 && second.count == 120)
        for people in [first, second] {
            #expect(people.map { $0["id"]?.double } == (1...120).map(Double.init))
            for person in people {
                #expect(person.members.map(\.name) == ["id", "first_name", "last_name", "email", "gender", "avatar"])
                #expect(person.members.dropFirst().allSatisfy { $0.value.string?.isEmpty == false })
            }
        }
        #expect(first != second)
        upstream.reset()
        #expect(try rows(response("/api/729a5c80?count=120")) == first, "the same from the same seed")
        let other = People(seed: 2).respond(
            to: UpstreamRequest(method: .get, path: ["api", "x"], origin: "http://127.0.0.1:4711")
        )
        #expect(try rows(other) != first)
    }

    @Test("JSON comes as recorded: the ampersand of a picture's address is escaped, and one row is no list")
    func shape() throws {
        let many = response("/api/a?count=2")
        #expect(
            many.headers[.contentType] == "application/json; charset=utf-8" && many.headers[.eTag] == nil
                && many.headers[.cacheControl] == nil
        )
        let text = String(decoding: many.body, as: UTF8.self)
        #expect(text.contains(#"?size=50x50\u0026set=set1"#) && !text.contains("&"))
        #expect(try JSONParser.parse(response("/api/a?count=1").body).object?["id"] == 1)
    }

    @Test("a wrong count, a wrong key and a spent quota are errors that are no list", arguments: ["0", "-1", "x"])
    func errors(count: String) throws {
        let wrong = response("/api/a?count=\(count)")
        #expect(wrong.status == .badRequest)
        _ = try control("/account", #"{"key":"right","left":1}"#)
        #expect(response("/api/a?count=2&key=wrong").status == .unauthorized)
        #expect(response("/api/a?count=2").status == .unauthorized)
        #expect(response("/api/a?count=2", headers: [.name("X-API-Key"): "right"]).status == .ok)
        let spent = response("/api/a?count=2&key=right")
        #expect(spent.status == .tooManyRequests)
        #expect(try JSONParser.parse(spent.body).object?["error"]?.string != nil)
        upstream.reset()
        #expect(response("/api/a?count=2").status == .ok)
    }

    @Test("a test may put any JSON in the place of new people, and take it away")
    func replaced() throws {
        _ = try control("/people", #"[{"id":1,"first_name":null,"avatar":"{origin}/people/avatars/a.png"}]"#)
        let data = String(decoding: response("/api/a?count=9").body, as: UTF8.self)
        #expect(data == #"[{"id":1,"first_name":null,"avatar":"http://127.0.0.1:4711/people/avatars/a.png"}]"#)
        _ = try control("/people", "null")
        #expect(try rows(response("/api/a?count=9")).count == 9)
        #expect(throws: ControlProblem.self) { try control("/account", #"{"left":"many"}"#) }
        #expect(throws: ControlProblem.self) { try control("/account", #"{"left":-5}"#) }
        #expect(throws: ControlProblem.self) { try control("/nothing", "{}") }
    }

    @Test("any text has a picture, always the same, of the requested size")
    func avatars() throws {
        let picture = response("/avatars/etipsum.png?size=50x50&set=set1")
        #expect(
            picture.headers[.contentType] == "image/png" && picture.headers[.cacheControl] == "public,max-age=31536000"
        )
        #expect(
            picture.body.starts(with: [0x89, 0x50, 0x4E, 0x47])
                && Array(picture.body[16..<24]) == [0, 0, 0, 50, 0, 0, 0, 50]
        )
        #expect(response("/avatars/etipsum.png?size=50x50").body == picture.body)
        #expect(response("/avatars/other.png?size=50x50").body != picture.body)
        #expect(response("/nowhere").status == .notFound)
    }

    @Test("the journal shows neither form of the key")
    func redaction() {
        let cleaner = Journal.newCleaner
        let path = cleaner.target("/people/api/a?count=2&key=secret&x=1")
        #expect(
            path.hasPrefix("/people/api/a?count=2&key=sha256:") && path.hasSuffix("&x=1") && !path.contains("secret")
        )
        #expect(cleaner.target("/spacex/v4/ships") == "/spacex/v4/ships")
        #expect(cleaner.value("secret", ofField: "x-api-key").hasPrefix("sha256:"))
    }
}

@Suite struct GeocoderTests {
    private func response(_ target: String) -> UpstreamResponse { Geocoder().response(.get, target) }

    private func names(_ target: String) throws -> [String?] {
        let features = try #require(try JSONParser.parse(response(target).body).object?["features"]?.array)
        return features.map { $0.object?["properties"]?.object?["name"]?.string }
    }

    @Test("places are found by the beginning of words, in any case and without accents")
    func search() throws {
        #expect(try names("/api?q=lag&limit=5") == ["Laguna Street", "Lagunda Bakery"])
        #expect(try names("/api?q=cafe%20zur") == ["Café Zürich"])
        #expect(try names("/api?q=%D0%BF%D0%B0%D1%80%D0%BA") == ["Парк Победы"])
        #expect(try names("/api?q=lag&limit=1") == ["Laguna Street"])
        #expect(try names("/api?q=nowhere") == [])
    }

    @Test("a feature is GeoJSON: the longitude comes first")
    func feature() throws {
        let body = String(decoding: response("/api?q=tower").body, as: UTF8.self)
        #expect(
            body.contains(#""geometry":{"coordinates":[-0.0754,51.5055],"type":"Point"}"#)
                && body.contains(#""type":"FeatureCollection""#)
        )
    }

    @Test("no question is 400, another path 404")
    func errors() {
        #expect(response("/api").status == .badRequest)
        #expect(response("/api?q=").status == .badRequest)
        #expect(response("/reverse?lat=1").status == .badRequest)
        #expect(response("/elsewhere?lat=1").status == .notFound)
    }
}
