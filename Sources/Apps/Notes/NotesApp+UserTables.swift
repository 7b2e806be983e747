public import AppInterface
import Database
import Foundation
import GRDB
import SharedStore

extension NotesApp {
    /// The tables that a copy from one store to the other has. What notes are found by is made anew.
    public static let userTables: [UserTable] = [
        UserTable(
            "notes_account",
            key: ["id"],
            [
                "id": .integer, "name_key": .text, "name_folded": .text, "name": .text, "salt": .bytes,
                "rounds": .integer, "block_size": .integer, "parallelism": .integer, "digest": .bytes,
                "created": .integer, "revision": .integer,
            ],
            computed: ["trashed": .integer, "bytes": .integer, "trash_bytes": .integer],
            identity: "id",
            // SQLite counts by triggers.
            completion: [countNotes]
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
            insertShared: { row, transaction in
                _ = try SharedNotes.insert(try Note(row), account: try row.integer("account"), transaction)
            },
            insertLocal: { row, db in
                try insertCopy(row, into: "note", [:], db)
                try NoteStore.index(try Note(row), account: try row.integer("account"), db)
            }
        ),
        UserTable(
            "note_trash",
            key: ["id"],
            [
                "id": .integer, "account": .integer, "body": .text, "opening": .text, "latitude": .real,
                "longitude": .real, "location_name": .text, "created": .integer, "modified": .integer,
                "revision": .integer, "deleted": .integer, "deletion": .integer,
            ],
            insertLocal: { row, db in
                let deletion = ["deleted": try row.integer("deleted"), "deletion": try row.integer("deletion")]
                try insertCopy(row, into: "note_trash", deletion, db)
            }
        ),
        // Made with the notes: the clusters of the map.
        UserTable(
            "note_cell",
            key: ["account", "zoom", "x", "y"],
            [:],
            computed: [
                "account": .integer, "zoom": .integer, "x": .integer, "y": .integer, "notes": .integer,
                "latitudes": .integer, "longitudes": .integer, "ids": .integer,
            ]
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

    private static let countNotes = """
        UPDATE notes_account SET
            notes = (SELECT count(*) FROM note WHERE account = notes_account.id),
            trashed = (SELECT count(*) FROM note_trash WHERE account = notes_account.id),
            trash_bytes = (SELECT coalesce(sum(\(size)), 0) FROM note_trash WHERE account = notes_account.id),
            bytes = (SELECT coalesce(sum(\(size)), 0) FROM note WHERE account = notes_account.id)
                + (SELECT coalesce(sum(\(size)), 0) FROM note_trash WHERE account = notes_account.id)
        """
    private static let size = "octet_length(body) + octet_length(location_name) + \(NoteStore.bytesBeside)"

    /// Inserts a row of a table of notes, with the cell of the map that it is in.
    private static func insertCopy(
        _ row: UserRow,
        into table: String,
        _ further: [String: Int64],
        _ db: Database
    ) throws {
        let note = try Note(row)
        let cell = MapGrid.cell(of: note.location.coordinate, zoom: MapGrid.deepest)
        let values: [(name: String, value: any DatabaseValueConvertible)] =
            [
                ("id", note.id), ("account", try row.integer("account")), ("body", note.body),
                ("opening", try row.text("opening")), ("latitude", note.location.coordinate.latitude),
                ("longitude", note.location.coordinate.longitude), ("location_name", note.location.name),
                ("cell_x", cell.x), ("cell_y", cell.y), ("created", try row.integer("created")),
                ("modified", try row.integer("modified")), ("revision", note.revision),
            ] + further.map { ($0.key, $0.value) }
        let names = values.map(\.name).joined(separator: ", ")
        let places = values.map { _ in "?" }.joined(separator: ", ")
        try db.execute(
            sql: "INSERT INTO \(table) (\(names)) VALUES (\(places))",
            arguments: StatementArguments(values.map(\.value))
        )
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
