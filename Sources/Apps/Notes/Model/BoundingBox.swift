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

    /// Its range of longitudes, or two ranges if it crosses the antimeridian.
    var longitudes: [ClosedRange<Double>] {
        west <= east ? [west...east] : [west...180, -180...east]
    }

    /// Returns whether a point is in it or on its edge.
    func contains(_ point: Coordinate) -> Bool {
        (south...north).contains(point.latitude) && longitudes.contains { $0.contains(point.longitude) }
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
