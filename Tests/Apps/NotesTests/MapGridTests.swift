import Foundation
import GRDB
import Screens
import Storage
import TestKit
import Testing

@testable import Notes

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

    /// Adds, moves and deletes notes, and returns the places of those that are left.
    private func randomPlaces(in store: NoteStore, account: Int64) async throws -> [Int64: Coordinate] {
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
                _ = try await store.change(id, body: nil, location: location, account: account, now: Date())
                places[id] = place
            default:
                guard let id = places.keys.max() else { continue }
                _ = try await store.delete(id, account: account)
                places[id] = nil
            }
        }
        return places
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
        let places = try await randomPlaces(in: store, account: account)
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
