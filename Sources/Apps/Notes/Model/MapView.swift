import Foundation
import HTTP
import Screens

/// The part of the map that a request asks for: a box with its edges, or exactly one cell of a cluster.
struct MapView: Sendable, Equatable {
    /// A cell of a zoom.
    struct Selection: Sendable, Equatable {
        let cell: MapGrid.Cell
        let zoom: Int
    }

    static let world = MapView(.world)

    let box: BoundingBox
    let selection: Selection?

    init(_ box: BoundingBox) {
        self.box = box
        selection = nil
    }

    /// Creates the view of a cell.
    init(_ selection: Selection) {
        box = BoundingBox(around: selection.cell, zoom: selection.zoom)
        self.selection = selection
    }

    func contains(_ point: Coordinate) -> Bool {
        guard box.contains(point) else { return false }
        return selection.map { MapGrid.cell(of: point, zoom: $0.zoom) == $0.cell } ?? true
    }

    /// Returns the zoom at which the view is clustered, which is not coarser than its cell.
    func clusterZoom(wanted: Int?) -> Int {
        max(MapGrid.zoom(wanted: wanted, for: box), selection?.zoom ?? 0)
    }

    /// Returns the cells of the view, as one or two ranges of columns and one of rows.
    func cells(zoom: Int) -> (columns: [ClosedRange<Int>], rows: ClosedRange<Int>) {
        guard let selection, zoom >= selection.zoom else { return MapGrid.cells(of: box, zoom: zoom) }
        let depth = zoom - selection.zoom
        let range = { (index: Int) in (index << depth)...((index + 1) << depth - 1) }
        return ([range(selection.cell.x)], range(selection.cell.y))
    }
}

extension MapView.Selection {
    /// The cell in queries: zoom, column and row, `4/33/22`.
    var text: String { "\(zoom)/\(cell.x)/\(cell.y)" }

    /// Reads ``text``; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.utf8.allSatisfy(\.isASCIIDigit) ? Int($0) : nil }
        guard parts.count == 3, numbers.count == 3, numbers[0] <= MapGrid.deepest,
            case let side = MapGrid.side(numbers[0]), numbers[1] < side, numbers[2] < side
        else { return nil }
        self.init(cell: .init(x: numbers[1], y: numbers[2]), zoom: numbers[0])
    }
}

extension QueryItems {
    /// Returns the view of `bbox` or `cell`; the whole map without either.
    ///
    /// - Throws: ``Problem``, 400 for both of them, or for any other value.
    func mapView() throws -> MapView {
        let box = try boundingBox()
        guard let text = try string("cell") else { return MapView(box ?? .world) }
        guard box == nil else { throw Problem.invalidParameter("cell", accepted: "is given without bbox") }
        guard let selection = MapView.Selection(text) else {
            throw Problem.invalidParameter("cell", accepted: "accepts zoom/column/row as in a cluster's href")
        }
        return MapView(selection)
    }
}

/// The grid of clusters. At zoom z the world, in Web Mercator, is a square of 2^z tiles a side, as on map services, and
/// every tile is four cells wide and high. If a tile is 256 points wide, a cell is 64 points: notes within the width of
/// a finger become one cluster.
///
/// It is deterministic, independent of the view, and nested: a cell of one zoom is exactly four of the next, so that
/// its coordinates are half of theirs.
enum MapGrid {
    /// The deepest zoom with clusters: a cell is about 600 m at the equator.
    static let deepest = 14
    /// The zoom whose cells, of at most 80 km, the name of one place fits.
    static let zoomOfPlaces = 7
    /// The most columns, and the most rows, that are read for a view.
    static let mostColumns = 256
    /// The most pins and clusters in a response.
    static let mostItems = 1_000

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

struct NoteCluster: Sendable, Equatable {
    let cell: MapGrid.Cell
    let count: Int
    /// The means of the latitudes and of the longitudes of its notes.
    let center: Coordinate
    /// The sum of the ids of its notes.
    let ids: Int64
    /// Whether all its notes are in one cell of ``MapGrid/zoomOfPlaces``; else its centre may be far from each of them.
    var isOnePlace = false

    /// The id of the note, if it is the only one.
    var only: Int64? { count == 1 ? ids : nil }
}

/// The notes of an account without a place: all are at 0°, 0°.
struct UnplacedNotes: Sendable {
    let count: Int
    /// The sum of their ids.
    let ids: Int64

    /// Returns the cells of a zoom without these notes.
    func removed(from cells: [NoteCluster], zoom: Int) -> [NoteCluster] {
        let own = MapGrid.cell(of: .zero, zoom: zoom)
        return cells.compactMap { cluster in
            guard count > 0, cluster.cell == own else { return cluster }
            let rest = cluster.count - count
            guard rest > 0 else { return nil }
            // They add nothing to the sums of degrees.
            let mean = { (degrees: Double) in (degrees * Double(cluster.count) / Double(rest) * 1e7).rounded() / 1e7 }
            let center = Coordinate(
                latitude: mean(cluster.center.latitude),
                longitude: mean(cluster.center.longitude)
            )
            return NoteCluster(cell: own, count: rest, center: center ?? cluster.center, ids: cluster.ids - ids)
        }
    }
}

/// A part of the map: west, south, east, north in degrees, in the order of RFC 7946 §5. If west is greater than
/// east, it crosses the antimeridian (§5.2).
struct BoundingBox: Sendable, Equatable {
    let west: Double
    let south: Double
    let east: Double
    let north: Double

    static let world = BoundingBox(west: -180, south: -90, east: 180, north: 90)
}

extension BoundingBox {
    /// Reads `west,south,east,north`; nil for any other text.
    init?(_ text: String) {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Double(plain: String($0)) }
        guard numbers.count == 4, case let corners = numbers.compactMap(\.self), corners.count == 4,
            let low = Coordinate(latitude: corners[1], longitude: corners[0]),
            let high = Coordinate(latitude: corners[3], longitude: corners[2]),
            low.latitude <= high.latitude
        else { return nil }
        self.init(west: low.longitude, south: low.latitude, east: high.longitude, north: high.latitude)
    }

    /// Creates a box that contains a cell of clusters, and a little more for the rounding of its corners.
    init(around cell: MapGrid.Cell, zoom: Int) {
        let box = MapGrid.box(of: cell, zoom: zoom)
        self.init(
            west: max(-180, box.west - 1e-6),
            south: max(-90, box.south - 1e-6),
            east: min(180, box.east + 1e-6),
            north: min(90, box.north + 1e-6)
        )
    }

    /// Its range of longitudes, or two ranges if it crosses the antimeridian.
    var longitudes: [ClosedRange<Double>] {
        west <= east ? [west...east] : [west...180, -180...east]
    }

    /// The other longitude of the antimeridian, -180 or 180, if it is an edge of the box that ends there: the meridian
    /// is the same.
    var oppositeEdge: Double? {
        guard west <= east else { return nil }
        return switch (west == -180, east == 180) {
        case (true, false): 180
        case (false, true): -180
        default: nil
        }
    }

    /// Returns whether a point is in it or on its edge.
    func contains(_ point: Coordinate) -> Bool {
        (south...north).contains(point.latitude)
            && (longitudes.contains { $0.contains(point.longitude) } || point.longitude == oppositeEdge)
    }
}

extension Double {
    /// A decimal number as people write it: no hexadecimal, no infinity, nothing that is not a number.
    init?(plain text: String) {
        guard text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }),
            let value = Double(text), value.isFinite
        else { return nil }
        self = value
    }
}

extension QueryItems {
    /// Returns a number within a range; nil if there is none.
    ///
    /// - Throws: ``Problem``, 400 for any other value.
    func number(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let text = try string(name) else { return nil }
        guard let value = Double(plain: text), range.contains(value) else {
            throw Problem.invalidParameter(
                name,
                accepted: "accepts a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return value
    }

    /// Returns `bbox`; nil if there is none.
    ///
    /// - Throws: ``Problem``, 400 for any other value.
    func boundingBox() throws -> BoundingBox? {
        guard let text = try string("bbox") else { return nil }
        guard let box = BoundingBox(text) else {
            throw Problem.invalidParameter(
                "bbox",
                accepted: "accepts west,south,east,north in degrees, south not above north; "
                    + "west above east crosses the antimeridian"
            )
        }
        return box
    }
}
