import CPlaces
import Foundation
import Screens

/// The places of 15,000 people and more of GeoNames, after which positions are named.
///
/// They are lines of a file that is part of the program, sorted by cells of one degree (docs/bundled-data.md). A search
/// reads the lines of some cells in the program's memory, so a start reads nothing.
struct PlaceTable: Sendable {
    struct Place: Sendable, Equatable {
        let name: Text
        /// ISO 3166-1 alpha-2.
        let country: String
        /// State of the USA; empty for other places.
        let state: String
        let coordinate: Coordinate
        let population: Int
    }

    /// The places that are part of the program.
    static let bundled = PlaceTable(
        Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: larder_places()),
            count: larder_places_length(),
            deallocator: .none
        )
    )

    private let lines: Data

    init(_ lines: Data) { self.lines = lines }

    /// Returns the place that a position is in or next to, and its distance in kilometres; nil for an empty table.
    ///
    /// It is in the country of the nearest line, which may be that of a smaller place. Of several places that a
    /// position is in, it is the one whose centre is nearest for its size.
    func place(at point: Coordinate) -> (place: Place, distance: Double, isWithin: Bool)? {
        for radius in Self.radii {
            let entries = entries(within: radius, of: point)
            guard let country = entries.min(by: { $0.distance < $1.distance })?.country else { continue }
            // A country without a named place is called after a neighbour, if nothing else is left.
            let isLast = radius == Self.radii.last
            let named = entries.filter { $0.population > 0 && ($0.country == country || isLast) }
            guard let nearest = named.min(by: { $0.distance < $1.distance }) else { continue }
            let own = named.filter { $0.country == country }
            let within = own.filter { $0.share <= 1 }.min { $0.share < $1.share }
            let entry = within ?? own.min { $0.distance < $1.distance } ?? nearest
            return place(entry.line).map { ($0, entry.distance, within != nil) }
        }
        return nil
    }

    /// All places with names, for the checks of the data.
    var all: [Place] {
        var places: [Place] = []
        lines.withUnsafeBytes { bytes in
            Self.forEachLine(in: bytes, of: 0...64_799) { line in
                guard let place = place(line) else { return }
                places.append(place)
            }
        }
        return places
    }

    private func place(_ line: Range<Int>) -> Place? {
        let fields = lines[line].split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count == 8, !fields[6].isEmpty, let latitude = Double(fields[1]),
            let longitude = Double(fields[2]),
            let population = Int(fields[3]), let coordinate = Coordinate(latitude: latitude, longitude: longitude)
        else { return nil }
        return Place(
            name: Text(fields[6], ru: fields[7].isEmpty ? fields[6] : fields[7]),
            country: fields[4],
            state: fields[5],
            coordinate: coordinate,
            population: population
        )
    }
}

// MARK: Lines

extension PlaceTable {
    /// Kilometres within which nearest places are looked for, one after the other; the last is all of the earth.
    private static let radii: [Double] = [50, 100, 200, 400, 800, 1600, 3200, 6400, 20_100]

    /// The values of a line by which one is chosen.
    private struct Entry {
        let line: Range<Int>
        /// Nobody for a place without a name.
        let population: Int
        /// The two letters.
        let country: UInt16
        let distance: Double

        /// The distance as a share of the radius of the place: a city of ten million people has 17 km.
        var share: Double { distance / (0.0055 * Double(population).squareRoot()) }
    }

    private func entries(within radius: Double, of point: Coordinate) -> [Entry] {
        let height = radius / 111
        let (south, north) = (max(-90, point.latitude - height), min(90, point.latitude + height))
        let narrowest = cos(max(abs(south), abs(north)) * .pi / 180)
        let width = narrowest * 180 > height ? height / narrowest : 180
        let columns = Int((point.longitude - width).rounded(.down))...Int((point.longitude + width).rounded(.down))
        var entries: [Entry] = []
        lines.withUnsafeBytes { bytes in
            for row in Int(south.rounded(.down))...min(89, Int(north.rounded(.down))) {
                for part in Self.parts(of: columns) {
                    let first = (row + 90) * 360
                    Self.forEachLine(in: bytes, of: first + part.lowerBound...first + part.upperBound) { line in
                        let entry = Self.entry(bytes, line, from: point)
                        if let entry, entry.distance <= radius { entries.append(entry) }
                    }
                }
            }
        }
        return entries
    }

    /// Returns columns of cells, counted from the west, which begin again at the antimeridian.
    private static func parts(of longitudes: ClosedRange<Int>) -> [ClosedRange<Int>] {
        guard longitudes.count < 360 else { return [0...359] }
        let first = ((longitudes.lowerBound + 180) % 360 + 360) % 360
        let last = first + longitudes.count - 1
        return last < 360 ? [first...last] : [first...359, 0...last - 360]
    }

    /// Reads the numbers and the country of a line.
    private static func entry(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>, from point: Coordinate) -> Entry? {
        var index = line.lowerBound + 6
        func number() -> Int {
            var (value, isNegative) = (0, false)
            while index < line.upperBound, bytes[index] != UInt8(ascii: "|") {
                let byte = bytes[index]
                if byte == UInt8(ascii: "-") { isNegative = true }
                if byte >= UInt8(ascii: "0") { value = value * 10 + Int(byte - UInt8(ascii: "0")) }
                index += 1
            }
            index += 1
            return isNegative ? -value : value
        }
        // Degrees have four decimals.
        let (latitude, longitude, population) = (Double(number()) / 1e4, Double(number()) / 1e4, number())
        guard index + 1 < line.upperBound, let place = Coordinate(latitude: latitude, longitude: longitude) else {
            return nil
        }
        return Entry(
            line: line,
            population: population,
            country: UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]),
            distance: place.kilometres(to: point)
        )
    }

    /// Calls a function with the lines of cells.
    private static func forEachLine(
        in bytes: UnsafeRawBufferPointer,
        of cells: ClosedRange<Int>,
        _ body: (Range<Int>) -> Void
    ) {
        func next(_ index: Int) -> Int {
            var end = index
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            return end + 1
        }
        var (low, high) = (0, bytes.count)
        // The first line whose cell is not before the first one, by its place in the file.
        while low < high {
            var middle = (low + high) / 2
            while middle > low, bytes[middle - 1] != UInt8(ascii: "\n") { middle -= 1 }
            if cell(bytes, middle) < cells.lowerBound { low = next(middle) } else { high = middle }
        }
        while low < bytes.count, cell(bytes, low) <= cells.upperBound {
            let end = next(low)
            if bytes[low] != UInt8(ascii: "#") { body(low..<end - 1) }
            low = end
        }
    }

    /// Returns the number of the cell that a line begins with; -1 for a comment, which precede all others.
    private static func cell(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int {
        var number = 0
        for index in start..<min(start + 5, bytes.count) {
            guard bytes[index] >= UInt8(ascii: "0") else { return -1 }
            number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return number
    }
}

extension PlaceTable.Place {
    /// The place with its country, and its state in English: `Springfield, Illinois, United States`.
    var fullName: Text {
        let state = state.isEmpty ? "" : "\(state), "
        let region = Text.country(country)
        return Text("\(name.english), \(state)\(region.english)", ru: "\(name.russian), \(region.russian)")
    }
}

extension Text {
    /// The name of a country, ISO 3166-1 alpha-2.
    static func country(_ code: String) -> Text {
        let name = { (language: Language) in
            Locale(identifier: language.rawValue).localizedString(forRegionCode: code) ?? code
        }
        return Text(shortNames[code] ?? name(.english), ru: russianShortNames[code] ?? name(.russian))
    }

    /// Regions whose names in CLDR are longer than the usual ones.
    private static let shortNames = ["CN": "China", "HK": "Hong Kong", "MO": "Macao"]
    private static let russianShortNames = ["HK": "Гонконг", "MO": "Макао"]
}
