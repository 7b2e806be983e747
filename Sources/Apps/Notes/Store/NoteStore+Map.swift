import Cluster
import Foundation
import GRDB
import Screens
import Storage

/// The content of a view of the map, read in one transaction.
struct NoteMap: Sendable {
    /// Notes that are shown one by one, the last saved first.
    let pins: [NoteOutline]
    /// Several notes each.
    let clusters: [NoteCluster]
    /// The zoom of the clusters; nil if every note of the view is a pin.
    let zoom: Int?
    /// The last saved note that has a place, wherever it is.
    let latest: NoteOutline?
    /// Notes of the account.
    let total: Int
    /// Those of them that are left out because they have no place; nil if none is left out.
    let unplaced: Int?
    let revision: Int
    let usage: StorageUsage
}

extension NoteStore {
    /// Returns the notes within a part of the map. They are pins if they are few and the request names no zoom of
    /// clusters; else they are grouped by ``MapGrid``.
    ///
    /// - Parameter onlyPlaced: Leaves out the notes without a place, which are stored at 0°, 0°.
    func map(_ view: MapView, zoom wanted: Int?, onlyPlaced: Bool = false, account: Int64) throws -> NoteMap {
        try users.read { db in
            let unplaced = onlyPlaced ? try Self.unplaced(account, db) : nil
            let latest = try NoteOutline.fetchOne(
                db.cachedStatement(sql: Self.selectLatestPlaced),
                arguments: [account]
            )
            let select = try db.cachedStatement(sql: Self.selectTotals)
            let totals = try Row.fetchOne(select, arguments: [account, account])
            let (total, revision): (Int, Int) = try (totals?.value(0) ?? 0, totals?.value(1) ?? 0)
            let usage = try StorageUsage(bytes: totals?.size(2) ?? 0, trash: totals?.size(3) ?? 0)
            func map(_ pins: [NoteOutline], _ clusters: [NoteCluster] = [], zoom: Int? = nil) -> NoteMap {
                NoteMap(
                    pins: pins,
                    clusters: clusters,
                    zoom: zoom,
                    latest: latest,
                    total: total,
                    unplaced: unplaced?.count,
                    revision: revision,
                    usage: usage
                )
            }
            if wanted.map({ $0 > MapGrid.deepest }) ?? true, let pins = try Self.pins(view, account, db) {
                return map(onlyPlaced ? pins.filter { $0.location != .unknown } : pins)
            }
            let (cells, zoom) = try Self.clusters(view, wanted: wanted, account, db)
            let found = unplaced.map { $0.removed(from: cells, zoom: zoom) } ?? cells
            let pins = try Self.outlines(found.compactMap(\.only), account, db).filter {
                view.contains($0.location.coordinate)
            }
            return map(pins, try Self.several(found, zoom: zoom, account, db), zoom: zoom)
        }
    }

    /// Returns the cells of a view that contain notes, at the requested zoom or the next one at which they are few
    /// enough.
    private static func clusters(_ view: MapView, wanted: Int?, _ account: Int64, _ db: Database) throws
        -> (cells: [NoteCluster], zoom: Int)
    {
        var zoom = view.clusterZoom(wanted: wanted)
        var clusters = try clusters(view, zoom, account, db)
        while clusters == nil, zoom > 0 {
            zoom -= 1
            clusters = try self.clusters(view, zoom, account, db)
        }
        return (clusters ?? [], zoom)
    }

    /// Returns the cells of several notes, with ``NoteCluster/isOnePlace``.
    private static func several(_ cells: [NoteCluster], zoom: Int, _ account: Int64, _ db: Database) throws
        -> [NoteCluster]
    {
        let select = try db.cachedStatement(sql: selectCell)
        return try cells.filter { $0.only == nil }.map { cluster in
            var cluster = cluster
            let cell = MapGrid.cell(of: cluster.center, zoom: MapGrid.zoomOfPlaces)
            cluster.isOnePlace =
                try zoom >= MapGrid.zoomOfPlaces
                || Int.fetchOne(select, arguments: [account, MapGrid.zoomOfPlaces, cell.x, cell.y]) == cluster.count
            return cluster
        }
    }

    /// Returns the notes of an account without a place.
    private static func unplaced(_ account: Int64, _ db: Database) throws -> UnplacedNotes {
        let row = try Row.fetchOne(db.cachedStatement(sql: selectUnplaced), arguments: [account])
        return try UnplacedNotes(count: row?.size(0) ?? 0, ids: row?.value(1) ?? 0)
    }

    /// Returns all notes of a view; nil if they are too many to be shown one by one.
    private static func pins(_ view: MapView, _ account: Int64, _ db: Database) throws -> [NoteOutline]? {
        var ids: [Int64] = []
        let box = view.box
        for range in box.longitudes + (box.oppositeEdge.map { [$0...$0] } ?? []) {
            let statement = try db.cachedStatement(sql: selectWithin)
            ids += try Int64.fetchAll(
                statement,
                arguments: [
                    "account": account, "west": range.lowerBound, "east": range.upperBound, "south": box.south,
                    "north": box.north,
                    "limit": MapGrid.mostItems + 1,
                ]
            )
            guard ids.count <= MapGrid.mostItems else { return nil }
        }
        // The R-tree rounds outward to 32 bits.
        return try outlines(Array(Set(ids)), account, db).filter { view.contains($0.location.coordinate) }
    }

    /// Returns notes by their ids, the last saved first.
    private static func outlines(_ ids: [Int64], _ account: Int64, _ db: Database) throws -> [NoteOutline] {
        try NoteOutline.fetchAll(db.cachedStatement(sql: selectOutlines), arguments: [ids.jsonArray, account])
            .sorted { $0.revision > $1.revision }
    }

    /// Returns the cells of a view that contain notes; nil if they are too many.
    private static func clusters(_ view: MapView, _ zoom: Int, _ account: Int64, _ db: Database) throws
        -> [NoteCluster]?
    {
        let (columns, rows) = view.cells(zoom: zoom)
        var clusters: [NoteCluster] = []
        // If a view that crosses the antimeridian is nearly as wide as the world, its two ranges may share a column.
        var next = Int.min
        for range in columns.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound >= next {
            let first = max(next, range.lowerBound)
            next = range.upperBound + 1
            let arguments: StatementArguments = [
                "account": account, "zoom": zoom, "west": first, "east": range.upperBound, "north": rows.lowerBound,
                "south": rows.upperBound,
                "limit": MapGrid.mostItems + 1,
            ]
            // Counting is cheaper than reading, and most zooms that are tried are too deep.
            let count = try Int.fetchOne(try db.cachedStatement(sql: countCells), arguments: arguments) ?? 0
            guard clusters.count + count <= MapGrid.mostItems else { return nil }
            clusters += try NoteCluster.fetchAll(db.cachedStatement(sql: selectCells), arguments: arguments)
        }
        return clusters
    }

    static let selectWithin = """
        SELECT id FROM note_position
        WHERE account_from <= :account AND account_to >= :account
            AND west <= :east AND east >= :west AND south <= :north AND north >= :south
        LIMIT :limit
        """
    // The conditions are those of the partial indexes, which a parameter in place of the name would not select.
    static let selectLatestPlaced = """
        SELECT \(NoteOutline.columns) FROM note
        WHERE account = ? AND (latitude <> 0 OR longitude <> 0 OR location_name <> '\(Note.Location.unknown.name)')
        ORDER BY revision DESC LIMIT 1
        """
    static let selectUnplaced = """
        SELECT count(*), coalesce(sum(id), 0) FROM note
        WHERE account = ? AND latitude = 0 AND longitude = 0 AND location_name = '\(Note.Location.unknown.name)'
        """
    static let selectOutlines = """
        SELECT \(NoteOutline.columns) FROM note WHERE id IN (SELECT value FROM json_each(?)) AND +account = ?
        """
    static let selectTotals = """
        SELECT (SELECT sum(notes) FROM note_cell WHERE account = ? AND zoom = 0), revision, bytes, trash_bytes
        FROM notes_account WHERE id = ?
        """

    // One seek for each column: the rows between two columns are north and south of the view.
    static let selectCells = selectCells("note_cell.x, note_cell.y, notes, latitudes, longitudes, ids")
    static let selectCell = "SELECT notes FROM note_cell WHERE account = ? AND zoom = ? AND x = ? AND y = ?"
    static let countCells = "SELECT count(*) FROM (\(selectCells("1")))"

    private static func selectCells(_ columns: String) -> String {
        """
        WITH RECURSIVE view (x) AS (SELECT :west UNION ALL SELECT x + 1 FROM view WHERE x < :east)
        SELECT \(columns) FROM view CROSS JOIN note_cell
            ON account = :account AND zoom = :zoom AND note_cell.x = view.x AND note_cell.y BETWEEN :north AND :south
        LIMIT :limit
        """
    }
}

extension NoteCluster: FetchableRecord {
    init(row: Row) throws {
        let count = try row.size("notes")
        let mean = { (sum: Int64) in (Double(sum) / Double(count)).rounded() / 1e7 }
        let latitude: Int64 = try row.value("latitudes")
        try self.init(
            cell: .init(x: row.size("x"), y: row.size("y")),
            count: count,
            center: row.value("longitudes") { Coordinate(latitude: mean(latitude), longitude: mean($0)) },
            ids: row.value("ids")
        )
    }
}
