import Foundation
import GRDB
import HTTPTypes
import Screens
import Storage
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

@Suite("The grid of clusters")
struct MapGridTests {
    private func point(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
        try #require(Coordinate(latitude: latitude, longitude: longitude))
    }

    @Test("NOTE-05 Cells are those of Web Mercator, four a tile's side, and stay in the world at its edges")
    func cells() throws {
        #expect(MapGrid.side(0) == 4 && MapGrid.side(14) == 65_536)
        #expect(MapGrid.cell(of: try point(0, 0), zoom: 0) == .init(x: 2, y: 2))
        #expect(MapGrid.cell(of: try point(85.06, -180), zoom: 0) == .init(x: 0, y: 0))
        #expect(MapGrid.cell(of: try point(90, 180), zoom: 3) == .init(x: 31, y: 0))
        #expect(MapGrid.cell(of: try point(-90, 180), zoom: 3) == .init(x: 31, y: 31))
        // The tile of Berlin's middle, as map services number it.
        let berlin = MapGrid.cell(of: try point(52.52, 13.405), zoom: 8)
        #expect((berlin.x / 4, berlin.y / 4) == (137, 83))
    }

    @Test("NOTE-05 A cell is four of the next zoom's, and lies in its own box")
    func nested() throws {
        for index in 0..<200 {
            let place = try point(Double(index % 18) * 10 - 85, Double(index * 37 % 360) - 180)
            for zoom in 0..<MapGrid.deepest {
                let (cell, inner) = (MapGrid.cell(of: place, zoom: zoom), MapGrid.cell(of: place, zoom: zoom + 1))
                #expect(inner.x >> 1 == cell.x && inner.y >> 1 == cell.y)
                let box = MapGrid.box(of: cell, zoom: zoom)
                #expect(
                    box.west <= place.longitude && place.longitude <= box.east && box.south <= place.latitude + 1e-9
                        && place.latitude - 1e-9 <= box.north
                )
            }
        }
    }

    @Test("NOTE-05 A view is never wider or higher than the most cells that are read, whatever zoom is requested")
    func zoom() throws {
        let city = try #require(BoundingBox("13.0,52.3,13.8,52.7"))
        #expect(
            MapGrid.zoom(wanted: nil, for: .world) == 6 && MapGrid.zoom(wanted: 24, for: .world) == 6
                && MapGrid.zoom(wanted: 2, for: .world) == 2
        )
        #expect(MapGrid.zoom(wanted: 10, for: city) == 10 && MapGrid.zoom(wanted: nil, for: city) == 14)
        let pacific = try #require(BoundingBox("100,-60,-100,60"))
        #expect(MapGrid.zoom(wanted: nil, for: pacific) == 7)
        #expect(MapGrid.cells(of: pacific, zoom: 0).columns == [3...3, 0...0])
    }

    @Test("NOTE-05 Clusters of every zoom contain each note once, through additions, moves and deletions")
    func counts() async throws {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        let store = NoteStore(database)
        let account = try #require(
            try await store.register(
                try UserName("bob"),
                PasswordHash(salt: Data(), cost: .scrypt(logarithm: 2), digest: Data()),
                now: Date()
            )
        ).id
        var places: [Int64: Coordinate] = [:]
        var generator = SeededRandom(seed: 7)
        for step in 0..<120 {
            let place = try point(
                Double.random(in: -90...90, using: &generator),
                Double.random(in: -180...180, using: &generator)
            )
            let location = Note.Location(coordinate: place, name: "x")
            switch step % 4 {
            case 0, 1: places[try await store.add("n", at: location, account: account, now: Date()).id] = place
            case 2:
                guard let id = places.keys.min() else { continue }
                _ = try await store.change(
                    id,
                    body: nil,
                    location: location,
                    account: account,
                    now: Date()
                )
                places[id] = place
            default:
                guard let id = places.keys.max() else { continue }
                _ = try await store.delete(id, account: account)
                places[id] = nil
            }
        }
        for zoom in [0, 3, 6, 14] {
            var expected: [MapGrid.Cell: Int] = [:]
            for place in places.values { expected[MapGrid.cell(of: place, zoom: zoom), default: 0] += 1 }
            let stored = try database.read { db in
                try Row.fetchAll(
                    db,
                    sql: "SELECT x, y, notes FROM note_cell WHERE account = ? AND zoom = ?",
                    arguments: [account, zoom]
                )
            }
            #expect(
                Dictionary(
                    uniqueKeysWithValues: stored.map { (MapGrid.Cell(x: $0["x"], y: $0["y"]), $0["notes"] as Int) }
                ) == expected
            )
        }
        let map = try store.map(.world, zoom: 3, account: account)
        #expect(map.clusters.map(\.count).reduce(map.pins.count, +) == places.count && map.total == places.count)
        #expect(Set(try store.map(.world, zoom: nil, account: account).pins.map(\.id)) == Set(places.keys))
    }

    @Test("NOTE-05 A view with too many notes is clustered without being requested")
    func many() throws {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations)
        try ManyNotes.fill(database, notes: 3_000)
        let store = NoteStore(database)
        let map = try store.map(.world, zoom: nil, account: 1)
        #expect(map.zoom != nil && map.pins.count + map.clusters.count <= MapGrid.mostItems)
        #expect(map.clusters.map(\.count).reduce(map.pins.count, +) == 3_000)
        #expect(try store.map(.world, zoom: 14, account: 1).clusters.map(\.count).reduce(0, +) > 0)
        #expect(try store.map(.world, zoom: nil, account: 2).total == 0)
    }
}
