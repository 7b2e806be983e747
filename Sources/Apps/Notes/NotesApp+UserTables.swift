package import AppInterface
import Database
import Foundation
import GRDB
import SharedStore

extension NotesApp {
    /// The tables that a copy from one store to the other has. The search index is made anew.
    package static let userTables: [UserTable] = [
        UserTable(
            "notes_account",
            key: ["id"],
            [
                "id": .integer, "name_key": .text, "name_folded": .text, "name": .text, "salt": .bytes,
                "rounds": .integer, "block_size": .integer, "parallelism": .integer, "digest": .bytes,
                "created": .integer, "revision": .integer,
            ],
            counted: ["trashed": .integer, "bytes": .integer, "trash_bytes": .integer],
            identity: "id",
            sharedCompletion: [
                """
                UPDATE notes_account SET notes = counted.notes
                FROM (SELECT account, count(*) AS notes FROM note GROUP BY account) AS counted
                WHERE id = counted.account
                """
            ]
        ),
        UserTable(
            "note",
            key: ["id"],
            [
                "id": .integer, "account": .integer, "body": .text, "opening": .text, "latitude": .real,
                "longitude": .real, "location_name": .text, "created": .integer, "modified": .integer,
                "revision": .integer,
            ],
            identity: "id",
            shared: UserTable.FurtherColumns(["terms", "passages"]) { row, _ in
                let terms = NoteTerms(try Note(row))
                return [SharedNotes.terms(terms.terms, of: try row.integer("account")), terms.passages]
            },
            local: cell,
            localCompletion: NoteStore.indexAll
        ),
        UserTable(
            "note_trash",
            key: ["id"],
            [
                "id": .integer, "account": .integer, "body": .text, "opening": .text, "latitude": .real,
                "longitude": .real, "location_name": .text, "created": .integer, "modified": .integer,
                "revision": .integer, "deleted": .integer, "deletion": .integer,
            ],
            local: cell
        ),
        // The clusters of the map.
        UserTable(
            "note_cell",
            key: ["account", "zoom", "x", "y"],
            [
                "account": .integer, "zoom": .integer, "x": .integer, "y": .integer, "notes": .integer,
                "latitudes": .integer, "longitudes": .integer, "ids": .integer,
            ],
            rows: .triggered
        ),
        UserTable(
            "notes_people",
            key: ["one"],
            ["one": .integer, "snapshot": .integer, "fetched": .integer, "people": .integer]
        ),
        UserTable(
            "notes_person",
            key: ["id"],
            [
                "id": .integer, "first_name": .text, "last_name": .text, "sort_first": .text, "sort_last": .text,
                "email": .text, "gender": .text, "avatar_url": .text,
            ]
        ),
    ]

    /// The cell of the map that a note is in.
    private static let cell = UserTable.FurtherColumns<any DatabaseValueConvertible>(["cell_x", "cell_y"]) { row, _ in
        let cell = MapGrid.cell(of: try Note(row).location.coordinate, zoom: MapGrid.deepest)
        return [cell.x, cell.y]
    }
}

extension Note {
    /// Reads a row of a copy.
    fileprivate init(_ row: UserRow) throws {
        let point = Coordinate(latitude: try row.real("latitude"), longitude: try row.real("longitude"))
        self.init(
            id: try row.integer("id"),
            body: try row.text("body"),
            location: Location(coordinate: point ?? .zero, name: try row.text("location_name")),
            modified: Date(millisecondsSince1970: try row.integer("modified")),
            created: Date(millisecondsSince1970: try row.integer("created")),
            revision: Int(try row.integer("revision"))
        )
    }
}
