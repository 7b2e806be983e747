import Foundation

/// A place that is offered while somebody types.
struct Place: Sendable, Equatable {
    /// Where it is known from.
    enum Source: String, Encodable, Sendable {
        /// Somebody's own notes.
        case notes
        case gazetteer
        case geocoder
    }

    let name: String
    /// What it lies in: country, or city and country. May be empty.
    let region: String
    let coordinate: Coordinate
    let source: Source

    /// Most places that are offered.
    static let mostSuggestions = 5
    /// Most of them that are names of own notes where others are known.
    static let mostOwn = 3

    /// The places to offer: own names first, then those of gazetteer and geocoder in turns, each as they rank them;
    /// none twice.
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

    /// Whether two sources speak of one place: the same name within 25 km.
    private func isSame(as other: Place) -> Bool {
        PlaceName.folded(name) == PlaceName.folded(other.name) && coordinate.kilometres(to: other.coordinate) < 25
    }
}

/// Names as they are compared and sorted.
enum PlaceName {
    /// In lower case and without diacritics: `São Paulo`, `sao paulo` and `SÃO PAULO` are one.
    static func folded(_ name: String) -> String {
        let letters = name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.filter {
            $0.properties.generalCategory != .nonspacingMark
        }
        guard letters.contains(where: { $0.value > 0x7F }) else { return String(String.UnicodeScalarView(letters)) }
        return letters.reduce(into: "") { text, letter in
            if let plain = undecomposed[letter] { text += plain } else { text.unicodeScalars.append(letter) }
        }
    }

    /// Letters with a stroke or joined ones, which Unicode does not decompose.
    private static let undecomposed: [Unicode.Scalar: String] = [
        "ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th", "’": "'",
        "ə": "a",
    ]
}
