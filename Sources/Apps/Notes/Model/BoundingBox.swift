import Foundation
import HTTPSemantics
import Screens

/// A part of the map: west, south, east, north in degrees, in the order of RFC 7946 §5. If west is greater than
/// east, it crosses the antimeridian (§5.2).
struct BoundingBox: Sendable, Equatable {
    let west: Double
    let south: Double
    let east: Double
    let north: Double

    /// The whole map.
    static let world = BoundingBox(west: -180, south: -90, east: 180, north: 90)

    private init(west: Double, south: Double, east: Double, north: Double) {
        (self.west, self.south, self.east, self.north) = (west, south, east, north)
    }

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
