import Foundation

/// A place that is suggested while the user types.
struct Place: Sendable, Equatable {
    enum Source: String, Encodable, Sendable {
        /// The notes of the account.
        case notes
        case gazetteer
        case geocoder
    }

    let name: String
    /// Its country, or city and country; may be empty.
    let region: String
    let coordinate: Coordinate
    let source: Source

    static let mostSuggestions = 5
    /// The most of them that are from the account's notes if others match.
    static let mostOwn = 3

    /// Returns the places to suggest: those of the account's notes first, then those of gazetteer and geocoder
    /// alternately, in their order; none twice.
    static func suggestions(own: [Place], gazetteer: [Place], geocoder: [Place]) -> [Place] {
        var chosen: [Place] = []
        func take(_ place: Place) {
            if chosen.count < mostSuggestions, !chosen.contains(where: { $0.isSame(as: place) }) {
                chosen.append(place)
            }
        }
        own.prefix(mostOwn).forEach(take)
        for index in 0..<max(gazetteer.count, geocoder.count) {
            if gazetteer.indices.contains(index) { take(gazetteer[index]) }
            if geocoder.indices.contains(index) { take(geocoder[index]) }
        }
        own.dropFirst(mostOwn).forEach(take)
        return chosen
    }

    /// Whether two places are the same: the same name within 25 km.
    private func isSame(as other: Place) -> Bool {
        PlaceName.folded(name) == PlaceName.folded(other.name) && coordinate.kilometres(to: other.coordinate) < 25
    }
}

/// Forms of names of places and people for comparing and sorting.
enum PlaceName {
    /// Returns a name in lower case and without diacritics: `São Paulo`, `sao paulo` and `SÃO PAULO` are equal.
    static func folded(_ name: String) -> String {
        let letters = name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
        guard letters.contains(where: { $0.value > 0x7F }) else { return String(String.UnicodeScalarView(letters)) }
        return letters.reduce(into: "") { text, letter in
            if let plain = undecomposed[letter] { text += plain } else { text.unicodeScalars.append(letter) }
        }
    }

    /// Letters with a stroke and ligatures, which Unicode does not decompose.
    private static let undecomposed: [Unicode.Scalar: String] = [
        "ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "’": "'",
        "ə": "a",
    ]
}

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

    /// Returns the identity of a place with a name here.
    func identity(named name: String) -> String { "\(name)@\(latitude),\(longitude)" }

    /// Returns the compass direction to another point, of eight, clockwise from 0, which is north.
    func direction(to other: Coordinate) -> Int {
        let radians = { (degrees: Double) in degrees * .pi / 180 }
        let east = radians(other.longitude - longitude)
        let (here, there) = (radians(latitude), radians(other.latitude))
        let bearing = atan2(sin(east) * cos(there), cos(here) * sin(there) - sin(here) * cos(there) * cos(east))
        return (Int((bearing * 4 / .pi).rounded()) + 8) % 8
    }

    /// Returns the great-circle distance in kilometres, on a sphere of 6371 km (haversine).
    func kilometres(to other: Coordinate) -> Double {
        let radians = { (degrees: Double) in degrees * .pi / 180 }
        let (north, east) = (radians(other.latitude - latitude) / 2, radians(other.longitude - longitude) / 2)
        let chord = pow(sin(north), 2) + cos(radians(latitude)) * cos(radians(other.latitude)) * pow(sin(east), 2)
        return 2 * 6371 * asin(min(1, chord.squareRoot()))
    }
}
