import Foundation
import SharedStore

extension SharedNotes {
    func map(_ view: MapView, zoom wanted: Int?, account: Int64) async throws -> NoteMap {
        try await database.read { transaction in
            let latest = try transaction.rows(Self.selectLatest, [account]).first.flatMap { try NoteOutline($0) }
            let counts = try transaction.rows("SELECT notes, revision FROM notes_account WHERE id = $1", [account])
            let usage = try Self.usage(account, transaction)
            let total: Int = try counts.first?.value("notes") ?? 0
            let revision: Int = try counts.first?.value("revision") ?? 0
            func map(_ pins: [NoteOutline], _ clusters: [NoteCluster], _ zoom: Int?) -> NoteMap {
                NoteMap(
                    pins: pins,
                    clusters: clusters,
                    zoom: zoom,
                    latest: latest,
                    total: total,
                    revision: revision,
                    usage: usage
                )
            }
            if wanted.map({ $0 > MapGrid.deepest }) ?? true, let pins = try Self.pins(view, account, transaction) {
                return map(pins, [], nil)
            }
            var zoom = view.clusterZoom(wanted: wanted)
            var cells = try Self.clusters(view, zoom, account, transaction)
            while cells == nil, zoom > 0 {
                zoom -= 1
                cells = try Self.clusters(view, zoom, account, transaction)
            }
            let found = cells ?? []
            let single = try transaction.rows(
                Self.selectOutlines,
                [found.compactMap { $0.only.map(Int.init) }, account]
            )
            let pins = try single.map { try NoteOutline($0) }.compactMap(\.self)
            return map(
                pins.filter { view.contains($0.location.coordinate) },
                found.filter { $0.only == nil },
                zoom
            )
        }
    }

    /// Returns all notes of a view, the last saved first; nil if they are too many to be shown one by one.
    private static func pins(_ view: MapView, _ account: Int64, _ transaction: SQLTransaction) throws
        -> [NoteOutline]?
    {
        var pins: [Int64: NoteOutline] = [:]
        let box = view.box
        for range in box.longitudes + (box.oppositeEdge.map { [$0...$0] } ?? []) {
            let rows = try transaction.rows(
                selectWithin,
                [account, range.lowerBound, range.upperBound, box.south, box.north, MapGrid.mostItems + 1]
            )
            for pin in try rows.map({ try NoteOutline($0) }).compactMap(\.self) { pins[pin.id] = pin }
            guard pins.count <= MapGrid.mostItems else { return nil }
        }
        return pins.values.filter { view.contains($0.location.coordinate) }.sorted { $0.revision > $1.revision }
    }

    /// Returns the cells of a view that contain notes; nil if they are too many.
    private static func clusters(_ view: MapView, _ zoom: Int, _ account: Int64, _ transaction: SQLTransaction) throws
        -> [NoteCluster]?
    {
        let (columns, rows) = view.cells(zoom: zoom)
        var clusters: [NoteCluster] = []
        // If a view that crosses the antimeridian is nearly as wide as the world, its two ranges may share a column.
        var next = Int.min
        for range in columns.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound >= next {
            let first = max(next, range.lowerBound)
            next = range.upperBound + 1
            clusters += try transaction.rows(
                selectCells,
                [account, zoom, first, range.upperBound, rows.lowerBound, rows.upperBound, MapGrid.mostItems + 1]
            ).map { try NoteCluster($0) }.compactMap(\.self)
            guard clusters.count <= MapGrid.mostItems else { return nil }
        }
        return clusters
    }

    private static let selectLatest = """
        SELECT \(NoteColumns.outline) FROM note WHERE account = $1 ORDER BY revision DESC LIMIT 1
        """
    private static let selectOutlines = """
        SELECT \(NoteColumns.outline) FROM note WHERE id = ANY($1) AND account = $2 ORDER BY revision DESC
        """
    private static let selectWithin = """
        SELECT \(NoteColumns.outline) FROM note
        WHERE account = $1 AND longitude BETWEEN $2 AND $3 AND latitude BETWEEN $4 AND $5 LIMIT $6
        """
    private static let selectCells = """
        SELECT x, y, notes, latitudes, longitudes, ids FROM note_cell
        WHERE account = $1 AND zoom = $2 AND x BETWEEN $3 AND $4 AND y BETWEEN $5 AND $6 ORDER BY x, y LIMIT $7
        """
}

extension NoteCluster {
    fileprivate init?(_ row: SQLRow) throws {
        let count: Int = try row.value("notes")
        let mean = { (sum: Int) in (Double(sum) / Double(count)).rounded() / 1e7 }
        let (latitudes, longitudes): (Int, Int) = (try row.value("latitudes"), try row.value("longitudes"))
        guard count > 0, let center = Coordinate(latitude: mean(latitudes), longitude: mean(longitudes)) else {
            return nil
        }
        self.init(
            cell: .init(x: try row.value("x"), y: try row.value("y")),
            count: count,
            center: center,
            only: count == 1 ? try row.value("ids") : nil
        )
    }
}
