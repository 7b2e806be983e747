import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Notes

@Suite("Suggested places")
struct NotePlacesTests {
    private static let online = """
        {"type":"FeatureCollection","features":[
         {"type":"Feature","geometry":{"type":"Point","coordinates":[2.3,48.9]},
          "properties":{"name":"Paris","country":"France"}},
         {"type":"Feature","geometry":{"type":"Point","coordinates":[4.85,45.78]},
          "properties":{"name":"Parisian Garden","city":"Lyon","country":"France"}},
         {"type":"Feature","geometry":null,"properties":{"name":"Broken"}},
         {"type":"Feature","geometry":{"type":"Point","coordinates":[999,0]},"properties":{"name":"Nowhere"}}]}
        """

    private func names(_ response: Exchanged) -> [JSON] { response.all("name", in: "data.items") }

    @Test("NOTE-08 Without any network: by beginning, in any case, script and spelling, the larger first, five at most")
    func gazetteer() async throws {
        try await NotesHarness.run { app, token in
            for (question, first) in [
                ("par", "Paris"), ("ПАРИ", "Paris"), ("sao p", "São Paulo"), ("SÃO", "São Paulo"),
                ("санкт", "Saint Petersburg"), ("new y", "New York"),
                ("york", "York"), ("münch", "Munich"),
                ("zur", "Zürich"), ("lodz", "Łódź"), ("東", "Tokyo"), ("орел", ""), ("gorky", "Nizhny Novgorod"),
                ("ny", "New York"), ("  london ", "London"),
                ("st petersburg", "Saint Petersburg"),
            ] {
                let query = question.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let response = try await app.get("/v1/notes/places?q=\(query)", as: token)
                response.expectScreen("notes.places")
                if first == "York" || first == "New York" { continue }
                #expect(names(response).first == (first.isEmpty ? nil : .string(first)), "\(question)")
                #expect(
                    names(response).count <= 5 && response["meta.source"] == "local" && response["meta.partial"] == nil
                        && response.cacheStatus == nil
                )
            }
        }
    }

    @Test("NOTE-08 Of many suggestions the five largest; a whole name before a later word")
    func many() async throws {
        try await NotesHarness.run { app, token in
            let many = try await app.get("/v1/notes/places?q=s", as: token)
            #expect(names(many).count == 5 && names(many).first == "Shanghai")
            #expect(
                many["data.items.0.text"] == "Shanghai, China" && many["data.items.0.source"] == "gazetteer"
                    && many["data.items.0.lat"] == 31.23
            )
            #expect(
                try names(await app.get("/v1/notes/places?q=york", as: token)) == ["York", "New York"],
                "a whole name before a later word"
            )
            #expect(many["data.empty"] == nil)
        }
    }

    @Test("NOTE-08 SRV-06 Without a text or a match there is an empty state; a text has 200 characters at most")
    func none() async throws {
        try await NotesHarness.run { app, token in
            for (none, title) in [
                ("", "Find a Place"), ("?q=", "Find a Place"), ("?q=%20", "Find a Place"),
                ("?q=%21", "No Matching Places"), ("?q=xyzzy", "No Matching Places"),
            ] {
                let response = try await app.get("/v1/notes/places\(none)", as: token)
                #expect(response.status == 200 && response["data.items"] == [] && response["meta.state"] == "empty")
                #expect(
                    response["data.empty.title"] == .string(title)
                        && response.names(in: "data.empty") == ["title", "text", "button"],
                    "SRV-06"
                )
            }
            try await app.get("/v1/notes/places?q=\(String(repeating: "a", count: 201))", as: token).expectProblem(
                "invalid-parameter",
                400
            )
        }
    }

    @Test(
        "NOTE-08 An accepted suggestion is found again by its whole text, and its region narrows the search",
        arguments: [
            ("Paris, France", ["Paris"]), ("paris, unit", ["Paris"]), ("париж fr", ["Paris"]),
            ("york, united st", ["New York"]),
            ("Saint Petersburg, Russia", ["Saint Petersburg"]), ("Uruguay", []), ("Paris, Germany", []),
        ]
    )
    func region(question: String, expected: [String]) throws {
        let found = try Gazetteer.bundled().search(question, limit: 5)
        #expect(found.map(\.name) == expected)
        #expect(
            found.allSatisfy {
                $0.region
                    == (question.contains("nit") ? "United States" : question.hasPrefix("Saint") ? "Russia" : "France")
            }
        )
    }

    @Test("NOTE-08 Names of the account's own notes come first, each once, where they were used last")
    func own() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("a", #"{"lat":1,"lon":1,"name":"Paris Café"}"#, as: token)
            try await app.add("b", #"{"lat":2,"lon":2,"name":"Le Parc"}"#, as: token)
            try await app.add("c", #"{"lat":3,"lon":3,"name":"PARIS cafe"}"#, as: token)
            try await app.add("d", as: token)
            let response = try await app.get("/v1/notes/places?q=par", as: token)
            #expect(names(response).prefix(3) == ["PARIS cafe", "Le Parc", "Paris"])
            #expect(
                response["data.items.0.lat"] == 3 && response["data.items.0.source"] == "notes"
                    && response["data.items.0.region"] == ""
            )
            #expect(try names(await app.get("/v1/notes/places?q=unkn", as: token)) == [])
        }
    }

    @Test("NOTE-08 Places of the geocoder are merged and stored; one that both know is listed once")
    func geocoder() async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in .json(Self.online) }
        try await NotesHarness.run(geocoder: script) { app, token in
            let response = try await app.get("/v1/notes/places?q=Par", as: token)
            #expect(names(response).prefix(3) == ["Paris", "Paramaribo", "Parisian Garden"], "in turns")
            #expect(names(response).filter { $0 == "Parisian Garden" }.count == 1 && names(response).count <= 5)
            #expect(
                response["meta.partial"] == false && response["meta.source"] == "upstream"
                    && response["data.items.2.region"] == "Lyon, France"
            )
            #expect(app.geocoder.requests.first?.url == "https://geocoder.test/api?q=par&limit=5")
            #expect(try await app.get("/v1/notes/places?q=par", as: token)["meta.source"] == "upstream")
            _ = try await app.get("/v1/notes/places?q=pa", as: token)
            #expect(app.geocoder.requests.count == 1, "stored, and not requested for fewer than three characters")
        }
    }

    @Test("NOTE-08 A geocoder that is down, fails or sends nonsense is no error: others are listed with partial set")
    func partial() async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in throw .unreachable(.refused) }
        try await NotesHarness.run(geocoder: script) { app, token in
            let down = try await app.get("/v1/notes/places?q=par", as: token)
            #expect(
                down.status == 200 && names(down).first == "Paris" && down["meta.partial"] == true
                    && down["meta.offline"] == true
            )
            #expect(down.cacheStatus != nil)
        }
        for response in [
            IncomingResponse.json("{}"), .json("[]", status: .badRequest), .json("no", status: .internalServerError),
        ] {
            let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in response }
            try await NotesHarness.run(geocoder: script) { app in
                let failing = try await app.get("/v1/notes/places?q=par", as: app.register())
                #expect(
                    failing.status == 200 && names(failing).first == "Paris" && failing["meta.partial"] == true
                        && failing["meta.offline"] == false
                )
            }
        }
    }

    @Test("NOTE-08 The bundled gazetteer is whole: every line read, names unique in a country, a Cyrillic name each")
    func bundled() throws {
        let gazetteer = try Gazetteer.bundled()
        #expect(gazetteer.cities.count > 700)
        #expect(Set(gazetteer.cities.map { "\($0.name) \($0.country)" }).count == gazetteer.cities.count)
        for city in gazetteer.cities {
            #expect(
                city.otherNames.first?.unicodeScalars.contains { (0x400...0x4FF).contains($0.value) } == true,
                "\(city.name)"
            )
            #expect(city.country.utf8.count == 2 && city.population > 0)
            #expect(
                gazetteer.search(city.name, limit: 50).contains { $0.coordinate == city.coordinate },
                "\(city.name)"
            )
        }
        #expect(gazetteer.date > Date(timeIntervalSince1970: 1_700_000_000))
        #expect(throws: Gazetteer.Damaged.self) { try Gazetteer("Paris|FR|95|2|1|П|") }
    }
}

@Suite("Addresses of positions")
struct NoteAddressesTests {
    private static let moscow = #"{"lat":55.75581,"lon":37.61733}"#

    @Test("NOTE-10 A note without a name of its place gets the place that it is in")
    func nearestCity() async throws {
        try await NotesHarness.run { app, token in
            for (location, name) in [
                (Self.moscow, "Moscow, Russia"),
                (#"{"lat":55.75581,"lon":37.61733,"name":"  "}"#, "Moscow, Russia"),
                (#"{"lat":55.75581,"lon":37.61733,"name":"Here"}"#, "Here"),
            ] {
                let note = try await app.add("a", location, as: token)
                let read = try await app.get("/v1/notes/\(note)", as: token)
                #expect(read["data.location.name"] == .string(name))
            }
            let moved = try await app.add("b", as: token)
            let changed = try await app.ask(.patch, "/v1/notes/\(moved)", as: token, #"{"location":\#(Self.moscow)}"#)
            #expect(changed["data.location.name"] == "Moscow, Russia")
        }
    }

    @Test("NOTE-10 With a geocoder the address is the one that it knows; its failure is no error")
    func geocoder() async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                """
                {"features":[{"geometry":{"coordinates":[37.6,55.7]},
                  "properties":{"street":"Tverskaya","housenumber":"1","city":"Moscow","country":"Russia"}}]}
                """
            )
        }
        try await NotesHarness.run(geocoder: script) { app, token in
            let first = try await app.get("/v1/notes/\(try await app.add("a", Self.moscow, as: token))", as: token)
            #expect(first["data.location.name"] == "Tverskaya 1, Moscow, Russia")
            let url = "https://geocoder.test/reverse?lon=37.6173&lat=55.7558&limit=1"
            #expect(app.geocoder.requests.map(\.url) == [url])
            app.geocoder.goAway()
            let elsewhere = #"{"lat":48.8566,"lon":2.3522}"#
            let second = try await app.get("/v1/notes/\(try await app.add("b", elsewhere, as: token))", as: token)
            #expect(second["data.location.name"] == "Paris, France")
        }
    }

    @Test("NOTE-10 Without notes the user's place on the map has an address")
    func user() async throws {
        try await NotesHarness.run { app, token in
            let map = try await app.get("/v1/notes/map?lat=55.75581&lon=37.61733", as: token)
            #expect(map["data.center.name"] == "Moscow, Russia" && map["data.center.reason"] == "user")
            #expect(try await app.get("/v1/notes/map", as: token)["data.center.name"] == "Unknown location")
            try await app.add("a", #"{"lat":1,"lon":2,"name":"Here"}"#, as: token)
            let latest = try await app.get("/v1/notes/map?lat=55.75581&lon=37.61733", as: token)
            #expect(latest["data.center.name"] == "Here")
        }
    }
}

@Suite struct NoteCitiesTests {
    private static func names(_ response: Exchanged) -> [JSON] { response.all("name", in: "data.items") }

    @Test("The largest cities of a part of the world, the largest first, in the language of the client")
    func cities() async throws {
        try await NotesHarness.run { app in
            let german = try await app.get("/v1/notes/cities?bbox=5.9,47.3,15,55&limit=3")
            #expect(german.status == 200 && Self.names(german).count == 3)
            #expect(Self.names(german).contains("Berlin"))
            let populations = try Gazetteer.bundled().largest(200, in: .world).map(\.population)
            #expect(populations.count == 200 && populations == populations.sorted(by: >))
            let russian = try await app.get("/v1/notes/cities?bbox=37,55,38,56", as: nil, [.acceptLanguage: "ru"])
            #expect(Self.names(russian).contains("Москва"))
        }
    }

    @Test("A part of the world that crosses the antimeridian has the cities of both sides; the sea has none")
    func borders() async throws {
        try await NotesHarness.run { app in
            let pacific = Self.names(try await app.get("/v1/notes/cities?bbox=170,-50,-150,25&limit=200"))
            #expect(pacific.contains("Auckland") && pacific.contains("Honolulu") && !pacific.contains("London"))
            let sea = try await app.get("/v1/notes/cities?bbox=-40,-60,-35,-55")
            #expect(Self.names(sea).isEmpty && sea["meta.state"] == "empty")
            for query in ["bbox=1,2,3", "bbox=a", "limit=0", "limit=201", "q=a"] {
                #expect(try await app.get("/v1/notes/cities?\(query)").status == 400, "\(query)")
            }
        }
    }
}
