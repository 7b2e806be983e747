import Foundation
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("Screens of Notes that write their own JSON")
struct NoteScreenJSONTests {
    private let time = NoteTime(in: .gmt, now: .now)

    private func expectSame(_ value: some JSONWritable) throws {
        #expect(try String(decoding: WireFormat.encode(value), as: UTF8.self) == JSONEncoder.wire.text(value))
    }

    private func notes() throws -> [NoteOutline] {
        try ["", "first\nsecond", "\"é\\ 🚢"].enumerated().map { number, opening in
            let coordinate = try #require(Coordinate(latitude: Double(number) * 12.345678, longitude: -180))
            return NoteOutline(
                id: Int64(number),
                opening: opening,
                location: Note.Location(coordinate: coordinate, name: "№ \(number)"),
                modified: Date(timeIntervalSince1970: 1.5e9 * Double(number)),
                revision: number
            )
        }
    }

    @Test("SRV-06 the list is written as JSONEncoder writes it")
    func list() throws {
        try expectSame(NoteListScreen(items: notes().map { NoteListScreen.Row($0, time) }, empty: nil))
        try expectSame(NoteListScreen(items: [], empty: .noNotes))
    }

    @Test("SRV-06 the map is written as JSONEncoder writes it", arguments: [nil, 0, 7])
    func map(zoom: Int?) throws {
        let notes = try notes()
        let clusters = try (1...3).map { number in
            NoteCluster(
                cell: MapGrid.Cell(x: 0, y: 0),
                count: number,
                center: try #require(Coordinate(latitude: -1 / Double(number), longitude: 1e-7)),
                only: nil
            )
        }
        for (pins, clusters) in [(notes, []), (notes, clusters), ([], [])] {
            let map = NoteMap(
                pins: pins,
                clusters: clusters,
                zoom: zoom,
                latest: pins.first,
                total: pins.count,
                revision: 1
            )
            try expectSame(NoteMapScreen(map, user: nil, time))
        }
    }

    @Test("SRV-06 people are written as JSONEncoder writes them")
    func people() throws {
        let people = [Person(id: 1, firstName: "Zoë", lastName: "O'Neil"), Person(id: .max)]
        try expectSame(PeopleListScreen(people, isEmpty: false))
        try expectSame(PeopleListScreen([], isEmpty: true))
    }
}
