import Database
import Foundation
import SharedStore

/// The terms and the clusters of notes in a shared store. Every write of a note calls these functions in its
/// transaction.
extension SharedNotes {
    /// Inserts a note with what it is found by.
    ///
    /// - Parameter note: its id is that of the row; 0 for a new one.
    static func insert(_ note: Note, account: Int64, _ transaction: SQLTransaction) throws -> Note {
        let terms = NoteTerms(note)
        let row = try transaction.rows(
            """
            INSERT INTO note (\(NoteColumns.kept), terms, passages)
            VALUES (
                CASE WHEN $1 = 0 THEN nextval(pg_get_serial_sequence('note', 'id')) ELSE $1 END,
                $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
            )
            RETURNING id
            """,
            [
                note.id, account, note.body, NoteOutline.opening(of: note.body),
                note.location.coordinate.latitude, note.location.coordinate.longitude, note.location.name,
                note.created.millisecondsSince1970, note.modified.millisecondsSince1970, note.revision,
                self.terms(terms.terms, of: account), terms.passages,
            ]
        ).first
        let new = Note(
            id: try row?.value("id") ?? note.id,
            body: note.body,
            location: note.location,
            modified: note.modified,
            created: note.created,
            revision: note.revision
        )
        try transaction.execute(addToCells, cells(of: new, account))
        return new
    }

    /// Updates a note that was changed.
    static func update(_ old: Note, to new: Note, account: Int64, _ transaction: SQLTransaction) throws {
        let terms = NoteTerms(new)
        try transaction.execute(
            """
            UPDATE note SET
                body = $2, opening = $3, latitude = $4, longitude = $5, location_name = $6, modified = $7,
                revision = $8, terms = $9, passages = $10
            WHERE id = $1
            """,
            [
                new.id, new.body, NoteOutline.opening(of: new.body), new.location.coordinate.latitude,
                new.location.coordinate.longitude, new.location.name, new.modified.millisecondsSince1970,
                new.revision, self.terms(terms.terms, of: account), terms.passages,
            ]
        )
        guard old.location.coordinate != new.location.coordinate else { return }
        try removeFromCells(old, account, transaction)
        try transaction.execute(addToCells, cells(of: new, account))
    }

    /// Deletes the row of a note, and what it was found by.
    static func remove(_ note: Note, account: Int64, _ transaction: SQLTransaction) throws {
        try transaction.execute("DELETE FROM note WHERE id = $1", [note.id])
        try removeFromCells(note, account, transaction)
    }

    /// Returns terms as the index has them. The account is part of each, so that a search looks at one account's notes
    /// only, whatever others have.
    static func terms(_ terms: some Sequence<String>, of account: Int64) -> [String] {
        // No term begins with a middle dot, so no account has terms of another one.
        let prefix = String(account, radix: 36) + "\u{B7}"
        return terms.map { prefix + $0 }
    }

    private static func removeFromCells(_ note: Note, _ account: Int64, _ transaction: SQLTransaction) throws {
        let cells = cells(of: note, account)
        try transaction.execute(takeFromCells, cells)
        try transaction.execute(removeEmptyCells, Array(cells.prefix(3)))
    }

    /// The account, the cell of the deepest zoom, the position in whole ten-millionths of a degree, and the id.
    private static func cells(of note: Note, _ account: Int64) -> [any SQLParameter] {
        let (point, cell) = (
            note.location.coordinate, MapGrid.cell(of: note.location.coordinate, zoom: MapGrid.deepest)
        )
        return [
            account, cell.x, cell.y, Int((point.latitude * 1e7).rounded()), Int((point.longitude * 1e7).rounded()),
            note.id,
        ]
    }

    private static let levels = "generate_series(0, \(MapGrid.deepest)) AS level (zoom)"
    private static let isCell = """
        note_cell.account = $1 AND note_cell.zoom = level.zoom
            AND note_cell.x = $2 >> (\(MapGrid.deepest) - level.zoom)
            AND note_cell.y = $3 >> (\(MapGrid.deepest) - level.zoom)
        """
    private static let addToCells = """
        INSERT INTO note_cell (account, zoom, x, y, notes, latitudes, longitudes, ids)
        SELECT $1, zoom, $2 >> (\(MapGrid.deepest) - zoom), $3 >> (\(MapGrid.deepest) - zoom), 1, $4, $5, $6
        FROM \(levels)
        ON CONFLICT (account, zoom, x, y) DO UPDATE SET
            notes = note_cell.notes + 1, latitudes = note_cell.latitudes + excluded.latitudes,
            longitudes = note_cell.longitudes + excluded.longitudes, ids = note_cell.ids + excluded.ids
        """
    private static let takeFromCells = """
        UPDATE note_cell SET
            notes = notes - 1, latitudes = latitudes - $4, longitudes = longitudes - $5, ids = ids - $6
        FROM \(levels) WHERE \(isCell)
        """
    private static let removeEmptyCells = "DELETE FROM note_cell USING \(levels) WHERE \(isCell) AND notes = 0"
}
