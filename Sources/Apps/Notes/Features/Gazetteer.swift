import Foundation
import Screens
import Synchronization

/// Cities of the world, built in, so that places are found without a network. docs/bundled-data.md describes the data
/// and their source.
struct Gazetteer: Sendable {
    /// A line of the built-in file is malformed, which is an error of the build.
    struct Damaged: Error {
        let line: String
    }

    struct City: Sendable, Equatable {
        let name: String
        /// ISO 3166-1 alpha-2.
        let country: String
        let coordinate: Coordinate
        /// Thousands of people, rounded.
        let population: Int
        /// Other names, the Cyrillic one first.
        let otherNames: [String]

        var title: Text { Text(name, ru: otherNames.first ?? name) }
    }

    let date: Date
    let cities: [City]
    private let index = GazetteerIndex()

    /// Reads a gazetteer file: lines `name|country|latitude|longitude|thousands|Cyrillic name|other names, separated by
    /// commas`. Lines that begin with # are comments; `# date: ` has the date of the data.
    ///
    /// - Throws: ``Damaged``.
    init(_ text: String) throws {
        var cities: [City] = []
        var date = Date(timeIntervalSince1970: 0)
        // By bytes, since all delimiters are ASCII: each start reads thousands of lines.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) {
            if line.utf8.first == UInt8(ascii: "#") {
                if line.hasPrefix("# date: "), let day = try? Date(line.dropFirst(8) + "T00:00:00Z", strategy: .iso8601)
                {
                    date = day
                }
                continue
            }
            guard let city = City(line: line) else { throw Damaged(line: String(line)) }
            cities.append(city)
        }
        self.date = date
        self.cities = cities
    }

    /// Returns the keys of cities, sorted.
    static func keys(of cities: [City]) -> [GazetteerIndex.Key] {
        var keys: [GazetteerIndex.Key] = []
        var regions: [String: [[Substring]]] = [:]
        for (index, city) in cities.enumerated() {
            // The region follows every name, so that an accepted suggestion such as `Paris, France` is found again.
            let region = Text.country(city.country)
            let known = regions[city.country] ?? [words(region.english), words(region.russian)]
            regions[city.country] = known
            for name in [city.name] + city.otherNames {
                let words = words(name)
                for (start, region) in words.indices.flatMap({ start in known.map { (start, $0) } }) {
                    keys.append(((words[start...] + region).joined(separator: " "), index, start == 0))
                }
            }
        }
        return keys.sorted { ($0.text, $0.city) < ($1.text, $1.city) }
    }

    /// Reads the built-in gazetteer.
    ///
    /// - Throws: an error of the build only.
    static func bundled() throws -> Gazetteer {
        try shared.get()
    }

    /// Read once for all servers of a process.
    private static let shared = Result {
        try Gazetteer(String(decoding: PackageResources.gazetteer_txt, as: UTF8.self))
    }

    private static func words(_ text: String) -> [Substring] {
        PlaceName.folded(text).split { !$0.isLetter && !$0.isNumber }
    }

    /// Returns the cities with a name, or later words of a name, that begin with the query; the region may follow.
    /// Matches of a whole name precede others, and larger cities precede smaller ones.
    func search(_ question: String, limit: Int) -> [Place] {
        let wanted = Self.words(question).joined(separator: " ")
        guard !wanted.isEmpty else { return [] }
        var ranks: [Int: Bool] = [:]
        let keys = index.keys(of: cities)
        for key in keys[Self.firstKey(from: wanted, in: keys)...] {
            guard key.text.utf8.starts(with: wanted.utf8) else { break }
            ranks[key.city] = key.isWhole || ranks[key.city] == true
        }
        return ranks.sorted { a, b in
            if a.value != b.value { return a.value }
            let (first, second) = (cities[a.key], cities[b.key])
            return first.population != second.population ? first.population > second.population : a.key < b.key
        }.prefix(limit).map { Place(cities[$0.key]) }
    }

    /// Returns the largest cities of a part of the map, the largest first.
    func largest(_ count: Int, in box: BoundingBox) -> [City] {
        let found = cities.enumerated().filter { box.contains($0.element.coordinate) }.sorted {
            ($1.element.population, $0.offset) < ($0.element.population, $1.offset)
        }
        return found.prefix(count).map(\.element)
    }

    /// Returns the city nearest to a point; nil if none is within 50 km.
    func nearest(to point: Coordinate) -> City? {
        // Of a thousand clusters on a map each is compared with each city: latitudes first, which costs nearly nothing.
        cities.lazy.filter { abs($0.coordinate.latitude - point.latitude) < 0.45 }
            .map { (city: $0, distance: $0.coordinate.kilometres(to: point)) }
            .filter { $0.distance <= 50 }.min { $0.distance < $1.distance }?.city
    }

    /// Returns the first key that is not less than a text, by binary search.
    private static func firstKey(from text: String, in keys: [GazetteerIndex.Key]) -> Int {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].text < text { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Gazetteer.City {
    /// Reads a line of the file; nil if it is malformed.
    fileprivate init?(line: Substring) {
        let fields = line.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard fields.count == 7, let latitude = Double(fields[2]), let longitude = Double(fields[3]),
            let population = Int(fields[4]),
            let coordinate = Coordinate(latitude: latitude, longitude: longitude), !fields[0].isEmpty
        else { return nil }
        let others =
            [fields[5]]
            + fields[6].utf8.split(separator: UInt8(ascii: ",")).map {
                Substring($0).trimmingCharacters(in: .whitespaces)
            }
        self.init(
            name: fields[0],
            country: fields[1],
            coordinate: coordinate,
            population: population,
            otherNames: others.filter { !$0.isEmpty }
        )
    }
}

extension Place {
    init(_ city: Gazetteer.City) {
        let language = Language.current
        self.init(
            name: city.title[language],
            region: Text.country(city.country)[language],
            coordinate: city.coordinate,
            source: .gazetteer
        )
    }
}

/// The keys of a gazetteer, made by the first search: a start need not wait for them.
final class GazetteerIndex: Sendable {
    /// A folded name, or the later words of one, with its city.
    typealias Key = (text: String, city: Int, isWhole: Bool)

    private let made = Mutex<[Key]?>(nil)

    /// Returns the keys of the gazetteer's cities, sorted.
    func keys(of cities: [Gazetteer.City]) -> [Key] {
        made.withLock { made in
            if let made { return made }
            let keys = Gazetteer.keys(of: cities)
            made = keys
            return keys
        }
    }
}
