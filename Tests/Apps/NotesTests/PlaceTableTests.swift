import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("Places that positions are named after")
struct PlaceTableTests {
    private static let sample = PlaceTable(
        Data(
            """
            # a comment
            44640|34.9990|-179.9990|500000|AA||West|Запад
            44999|34.9990|179.9990|20000|AA||East|
            49820|48.5000|-39.1000|90000|CC||Near|
            49820|48.5000|-39.5000|0|BB|||
            49822|48.5000|-37.5000|90000|BB||Far|
            """.appending("\n").utf8
        )
    )

    private func name(
        _ latitude: Double,
        _ longitude: Double,
        _ table: PlaceTable = sample,
        _ language: Language = .english
    ) throws -> String {
        let point = try #require(Coordinate(latitude: latitude, longitude: longitude))
        let addresses = NoteAddresses(gazetteer: try Gazetteer.bundled(), geocoder: nil, places: table)
        return addresses.nearestPlace(to: point, in: language)
    }

    @Test("NOTE-14 Of the 6,204 cities of 100,000 people and more each is named itself, so none in another country")
    func cities() throws {
        let places = PlaceTable.bundled.all
        #expect(places.count == 34_008)
        let cities = places.filter { $0.population >= 100_000 }
        #expect(cities.count == 6_204)
        let wrong = cities.filter { PlaceTable.bundled.place(at: $0.coordinate)?.place != $0 }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(3))")
        let isNamed = places.count { $0.name.russian.unicodeScalars.contains { (0x400...0x4FF).contains($0.value) } }
        #expect(isNamed > 15_000)
    }

    @Test(
        "NOTE-14 A position is in a city or at a distance from one, in its country, in the language of the user",
        arguments: [
            (55.7520, 37.6175, "Moscow, Russia", "Москва, Россия"),
            (-4.3276, 15.3136, "Kinshasa, Congo", "Киншаса, Конго"),
            (37.0594, 37.3825, "Gaziantep, T", "Газиантеп, Турция"),
            (59.3772, 28.1903, "Narva, Estonia", "Нарва, Эстония"),
            (37.2153, -93.2982, "Springfield, Missouri, United States", "Спрингфилд, Соединенные Штаты"),
            (48.7, 2.0, "km from", "км от города"), (30, -40, "km southwest of", "км к юго-западу от города"),
            (-90, 0, "km south of", "км к югу от города"), (0, -180, "km ", "км к "),
        ]
    )
    func bundled(latitude: Double, longitude: Double, english: String, russian: String) throws {
        #expect(try name(latitude, longitude, .bundled).contains(english))
        let translated = try name(latitude, longitude, .bundled, .russian)
        #expect(translated.contains(russian), "\(translated)")
    }

    @Test("NOTE-14 Cells meet at the antimeridian; the country is that of the nearest line, also of one without a name")
    func table() throws {
        #expect(try name(34.999, 179.9991).hasPrefix("East") && name(34.999, -179.9999).hasPrefix("West"))
        #expect(try name(34.999, 179.9999, Self.sample, .russian).hasPrefix("Запад"))
        #expect(try name(48.5, -39.48).contains("km west of Far") && name(48.5, -39.11).hasPrefix("Near"))
        #expect(try name(0, 0, PlaceTable(Data())) == "Unknown location")
        #expect(Self.sample.all.count == 4)
    }

    @Test("NOTE-14 Whatever the position, a place is named")
    func anywhere() throws {
        var chance = SeededRandom(seed: 14)
        for _ in 0..<300 {
            let point = try #require(
                Coordinate(
                    latitude: Double.random(in: -90...90, using: &chance),
                    longitude: Double.random(in: -180...180, using: &chance)
                )
            )
            let found = try #require(PlaceTable.bundled.place(at: point))
            #expect(abs(found.distance - found.place.coordinate.kilometres(to: point)) < 0.001)
        }
    }

    @Test("NOTE-14 Addresses and suggestions are in the language of the request")
    func languages() async throws {
        try await NotesHarness.run { app, token in
            let russian: HTTPFields = [.acceptLanguage: "ru"]
            let body = #"{"body":"a","location":{"lat":55.752,"lon":37.6175}}"#
            let note = try await app.ask(.post, "/v1/notes", as: token, russian, body)
            #expect(note["data.location.name"] == "Москва, Россия")
            let map = try await app.register("eve")
            let center = try await app.get("/v1/notes/map?lat=55.752&lon=37.6175", as: map, russian)
            #expect(center["data.center.name"] == "Москва, Россия")
            let query = "моск".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let places = try await app.get("/v1/notes/places?q=\(query)", as: token, russian)
            #expect(places["data.items.0.text"] == "Москва, Россия")
            let whole = "Москва, Россия".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(try await app.get("/v1/notes/places?q=\(whole)", as: map, russian)["data.items.0.name"] == "Москва")
        }
    }
}
