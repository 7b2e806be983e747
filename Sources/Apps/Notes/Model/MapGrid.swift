import Foundation

/// The grid that notes are clustered on: at zoom z the world, in Web Mercator, is a square of 2^z tiles a side, as map
/// services cut it, and every tile is four cells wide and high. On a screen where a tile is 256 points wide, a cell is
/// 64 points: notes that are nearer than a finger is wide become one cluster.
///
/// Deterministic, independent of the part that is looked at, and nested: a cell of one zoom is exactly four of the
/// next, so its number is half of theirs.
enum MapGrid {
    /// The deepest zoom that clusters: a cell is then about 600 m at the equator.
    static let deepest = 14
    /// Most columns, and most rows, that are read for one view.
    static let mostColumns = 256
    /// Most pins and clusters in one response.
    static let mostItems = 1_000

    /// A cell.
    struct Cell: Sendable, Hashable {
        let x: Int
        let y: Int
    }

    /// Cells a side at a zoom.
    static func side(_ zoom: Int) -> Int { 1 << (zoom + 2) }

    /// The cell of a point; what lies beyond 85.05° belongs to the outermost row.
    static func cell(of point: Coordinate, zoom: Int) -> Cell {
        let side = Double(side(zoom))
        let sine = sin(point.latitude * .pi / 180)
        let y = 0.5 - log((1 + sine) / (1 - sine)) / (4 * .pi)
        let index = { (share: Double) in Int(max(0, min(side - 1, (share * side).rounded(.down)))) }
        return Cell(
            x: index((point.longitude + 180) / 360),
            y: y.isFinite ? index(y) : (sine > 0 ? 0 : Self.side(zoom) - 1)
        )
    }

    /// The cells of a view, as one or two ranges of columns and one of rows.
    static func cells(of box: BoundingBox, zoom: Int) -> (columns: [ClosedRange<Int>], rows: ClosedRange<Int>) {
        let row = { (latitude: Double) in
            Coordinate(latitude: latitude, longitude: 0).map { cell(of: $0, zoom: zoom).y } ?? 0
        }
        let columns = box.longitudes.map { range in
            let column = { (longitude: Double) in
                Coordinate(latitude: 0, longitude: longitude).map { cell(of: $0, zoom: zoom).x } ?? 0
            }
            return column(range.lowerBound)...column(range.upperBound)
        }
        return (columns, row(box.north)...row(box.south))
    }

    /// The zoom at which a view is clustered: the wanted one, or the deepest at which the view is not more cells wide
    /// or high than is read.
    static func zoom(wanted: Int?, for box: BoundingBox) -> Int {
        var zoom = min(max(0, wanted ?? deepest), deepest)
        while zoom > 0 {
            let (columns, rows) = cells(of: box, zoom: zoom)
            if columns.map(\.count).reduce(0, +) <= mostColumns, rows.count <= mostColumns { break }
            zoom -= 1
        }
        return zoom
    }

    /// The part of the map that a cell covers.
    static func box(of cell: Cell, zoom: Int) -> (west: Double, south: Double, east: Double, north: Double) {
        let side = Double(side(zoom))
        let longitude = { (x: Int) in Double(x) / side * 360 - 180 }
        let latitude = { (y: Int) in
            y <= 0 ? 90 : y >= Int(side) ? -90 : atan(sinh(.pi * (1 - 2 * Double(y) / side))) * 180 / .pi
        }
        return (longitude(cell.x), latitude(cell.y + 1), longitude(cell.x + 1), latitude(cell.y))
    }
}

/// Notes of one cell, taken together.
struct NoteCluster: Sendable, Equatable {
    let cell: MapGrid.Cell
    let count: Int
    /// The middle of its notes: the mean of their latitudes and of their longitudes.
    let center: Coordinate
    /// The note, where it is only one.
    let only: Int64?
}
