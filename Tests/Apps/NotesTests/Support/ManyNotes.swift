import Foundation
import GRDB
import Storage
import TestKit

@testable import Notes

/// A database with many notes of one account, all over the world and many in one city.
enum ManyNotes {
    /// - Parameter hasTerms: Whether the database has the index of terms: those of earlier versions have not.
    static func fill(_ database: LarderDatabase, notes: Int, hasTerms: Bool = true) throws {
        var chance = SeededRandom(seed: 11)
        try database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO notes_account
                        (id, name_key, name, salt, rounds, block_size, parallelism, digest, created)
                    VALUES (1, 'a', 'a', x'', 4, 8, 1, x'', 0)
                    """
            )
            for number in 1...notes {
                let isCity = number % 2 == 0
                let latitude =
                    isCity
                    ? Double.random(in: 52.3...52.7, using: &chance) : Double.random(in: -60...75, using: &chance)
                let longitude =
                    isCity
                    ? Double.random(in: 13...13.8, using: &chance) : Double.random(in: -180...180, using: &chance)
                guard let point = Coordinate(latitude: latitude, longitude: longitude) else { continue }
                let note = Note(
                    id: Int64(number),
                    body: "note number \(number) of a long walk with dog\(number % 100)",
                    location: .init(coordinate: point, name: "Place \(number % 500)"),
                    modified: Date(timeIntervalSince1970: Double(number)),
                    created: Date(timeIntervalSince1970: Double(number)),
                    revision: number
                )
                let cell = MapGrid.cell(of: point, zoom: MapGrid.deepest)
                try db.cachedStatement(sql: NoteStore.insert).execute(arguments: [
                    "id": nil, "account": 1, "body": note.body, "opening": note.body, "latitude": latitude,
                    "longitude": longitude,
                    "location_name": note.location.name,
                    "cell_x": cell.x, "cell_y": cell.y, "created": number, "modified": number, "revision": number,
                ])
                if hasTerms {
                    try NoteStore.index(note, account: 1, db)
                } else {
                    try NoteStore.indexPosition(note, account: 1, db)
                }
            }
            try db.execute(sql: "UPDATE notes_account SET revision = ?", arguments: [notes])
        }
    }
}
