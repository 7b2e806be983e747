import Foundation
import HTTPSemantics
import Screens

/// The part of the map that a request asks for: a box with its edges, or exactly one cell of a cluster.
struct MapView: Sendable, Equatable {
    /// A cell of a zoom.
    struct Selection: Sendable, Equatable {
        let cell: MapGrid.Cell
        let zoom: Int
    }

    /// The whole map.
    static let world = MapView(.world)

    let box: BoundingBox
    let selection: Selection?

    /// Creates the view of a box.
    init(_ box: BoundingBox) {
        self.box = box
        selection = nil
    }

    /// Creates the view of a cell.
    init(_ selection: Selection) {
        box = BoundingBox(around: selection.cell, zoom: selection.zoom)
        self.selection = selection
    }

    /// Returns whether a point is in the view.
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
