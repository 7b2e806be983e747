import Foundation

/// A point on the earth (WGS 84), in degrees.
struct Coordinate: Sendable, Equatable {
    /// -90…90, north positive.
    let latitude: Double
    /// -180…180, east positive.
    let longitude: Double

    /// Creates a point; nil if a number is out of range, infinite or NaN.
    init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        // Adding 0 removes the sign of zero, so that equal points are written alike.
        self.latitude = latitude + 0
        self.longitude = longitude + 0
    }

    private init(_ latitude: Double, _ longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// 0°, 0°: the position of a note without a place.
    static let zero = Coordinate(0, 0)

    /// Returns the great-circle distance in kilometres, on a sphere of 6371 km (haversine).
    func kilometres(to other: Coordinate) -> Double {
        let radians = { (degrees: Double) in degrees * .pi / 180 }
        let (north, east) = (radians(other.latitude - latitude) / 2, radians(other.longitude - longitude) / 2)
        let chord = pow(sin(north), 2) + cos(radians(latitude)) * cos(radians(other.latitude)) * pow(sin(east), 2)
        return 2 * 6371 * asin(min(1, chord.squareRoot()))
    }
}
