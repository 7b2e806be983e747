import Foundation

/// The grid of clusters: at zoom z the world, in Web Mercator, is a square of 2^z tiles a side, as on map services, and
/// every tile is four cells wide and high. If a tile is 256 points wide, a cell is 64 points: notes within the width of
/// a finger become one cluster.
///
/// It is deterministic, independent of the view, and nested: a cell of one zoom is exactly four of the next, so that
/// its coordinates are half of theirs.
enum MapGrid {
    /// The deepest zoom with clusters: a cell is about 600 m at the equator.
    static let deepest = 14
    /// The most columns, and the most rows, that are read for a view.
    static let mostColumns = 256
    /// The most pins and clusters in a response.
    static let mostItems = 1_000

    /// A cell.
    struct Cell: Sendable, Hashable {
        let x: Int
        let y: Int
    }

    /// Returns the cells of a side at a zoom.
    static func side(_ zoom: Int) -> Int { 1 << (zoom + 2) }

    /// Returns the cell of a point; points beyond 85.05° are in the outermost row.
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

    /// Returns the cells of a view, as one or two ranges of columns and one of rows. A view that ends at the
    /// antimeridian has the column beyond it, because notes on that meridian may be at 180 and at -180.
    static func cells(of box: BoundingBox, zoom: Int) -> (columns: [ClosedRange<Int>], rows: ClosedRange<Int>) {
        let row = { (latitude: Double) in
            Coordinate(latitude: latitude, longitude: 0).map { cell(of: $0, zoom: zoom).y } ?? 0
        }
        let column = { (longitude: Double) in
            Coordinate(latitude: 0, longitude: longitude).map { cell(of: $0, zoom: zoom).x } ?? 0
        }
        let edge = box.oppositeEdge.map { $0...$0 }
        let columns = (box.longitudes + [edge].compactMap(\.self)).map { range in
            column(range.lowerBound)...column(range.upperBound)
        }
        return (columns, row(box.north)...row(box.south))
    }

    /// Returns the zoom at which a view is clustered: the requested one, or the deepest at which the view has not too
    /// many columns and rows.
    static func zoom(wanted: Int?, for box: BoundingBox) -> Int {
        var zoom = min(max(0, wanted ?? deepest), deepest)
        while zoom > 0 {
            let (columns, rows) = cells(of: box, zoom: zoom)
            if columns.map(\.count).reduce(0, +) <= mostColumns, rows.count <= mostColumns { break }
            zoom -= 1
        }
        return zoom
    }

    /// Returns the part of the map that a cell covers.
    static func box(of cell: Cell, zoom: Int) -> (west: Double, south: Double, east: Double, north: Double) {
        let side = Double(side(zoom))
        let longitude = { (x: Int) in Double(x) / side * 360 - 180 }
        let latitude = { (y: Int) in
            y <= 0 ? 90 : y >= Int(side) ? -90 : atan(sinh(.pi * (1 - 2 * Double(y) / side))) * 180 / .pi
        }
        return (longitude(cell.x), latitude(cell.y + 1), longitude(cell.x + 1), latitude(cell.y))
    }
}

/// The notes of a cell.
struct NoteCluster: Sendable, Equatable {
    let cell: MapGrid.Cell
    let count: Int
    /// The means of the latitudes and of the longitudes of its notes.
    let center: Coordinate
    /// The id of the note, if it is the only one.
    let only: Int64?
}
