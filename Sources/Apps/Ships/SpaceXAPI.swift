import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

/// A ship as the app stores and shows it, without the upstream's quirks.
struct Ship: Sendable, Equatable {
    /// The API's id: the only key that does not change if a ship is renamed.
    var id: String
    var name: String
    var type: String?
    var roles: [String]
    var isActive: Bool
    var yearBuilt: Int?
    var homePort: String?
    var massKilograms: Double?
    /// URL of the picture, as the API says; never sent to a client.
    var imageURL: String?
    /// Whether the API's last response listed it.
    var isListed = true

    /// Most characters of a text that are kept.
    static let longestText = 2048
    /// Most roles that are kept.
    static let maximumRoles = 100
    /// The addresses of the details.
    static let paths = ItemPaths("/v1/ships", reserved: ["launch", "restore", "session"])

    /// The sort key of ships: the name in Unicode simple case folding, so that `bob` is between `Alma` and `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String { name.caseFolded.cutToKey }
}

// The SpaceX REST API v4 as far as the app uses it: the list of all ships, and their pictures.
//
// One request fetches all ships (about 21 KB); there is no paging. Source: r-spacex/SpaceX-API, docs/ships/v4.
extension ShipsApp {
    /// Path of the list below the base URL.
    static let shipsPath = "/v4/ships"

    /// The list of all ships. No 4xx is news (`ErrorForm.none`): there is this one collection, the API is no longer
    /// maintained, and its errors are plain text.
    var list: Resource { list(after: nil) }

    /// Returns the list of all ships, for a request.
    ///
    /// - Parameter listing: The list that several servers have taken over before the request.
    func list(after listing: Int64?) -> Resource {
        var resource = Resource(
            url: upstream.configuration.url(of: Self.shipsPath),
            headerFields: [.accept: "application/json"],
            freshness: settings[Self.freshness],
            isSourceOfRows: true
        ) { response throws(UpstreamError) in
            try response.usable { body throws(UnusableResponse) in
                let records = try ShipRecords(json: body)
                // The bundled ships are always known, so an empty list is an error of the API.
                guard !records.ships.isEmpty else { throw UnusableResponse("an empty list where there were ships") }
                return store.persistRows(of: records.ships, listedAt: clock.now(), after: listing) { publishChange($0) }
            }
        }
        resource.bundledAt = snapshot.recordedAt
        return resource
    }
}

/// The ships that are part of the program, for a first start without an upstream. They were recorded from the API.
struct ShipSnapshot: Sendable {
    /// The file has no date: a fault of the build.
    struct Damaged: Error {}

    let recordedAt: Date
    let records: ShipRecords

    /// Reads a snapshot file: `{"source", "recorded_at", "ships": […]}` with records as the API sends them.
    ///
    /// - Throws: `DecodingError`, ``Damaged``.
    init(json: Data) throws {
        let file = try JSONDecoder().decode(File.self, from: json)
        guard let date = try? Date(file.recordedAt, strategy: .iso8601) else { throw Damaged() }
        recordedAt = date
        records = ShipRecords(file.ships.values)
    }

    /// - Throws: As ``init(json:)``.
    static func bundled() throws -> ShipSnapshot { try read.get() }

    /// Read once, because each reset of a test makes a new app.
    private static let read = Result { try ShipSnapshot(json: Data(PackageResources.ships_snapshot_json)) }

    private struct File: Decodable {
        let recordedAt: String
        let ships: TolerantList<ShipRecord>

        enum CodingKeys: String, CodingKey {
            case recordedAt = "recorded_at"
            case ships
        }
    }
}

/// The ships of one response of the API.
struct ShipRecords: Sendable, Equatable {
    /// Usable records, in the order of the response; of two with one id, the first. Others, such as those without a
    /// name or an id, are skipped.
    let ships: [Ship]

    init(json: Data) throws(UnusableResponse) {
        let items = try TolerantList<ShipRecord>(json: json, as: "a list of ships")
        guard !items.isTruncated else { throw UnusableResponse("a list that is too long") }
        self.init(items.values)
        if ships.isEmpty, !items.values.isEmpty { throw UnusableResponse("a list without a single ship") }
    }

    init(_ records: [ShipRecord?]) {
        var seen = Set<String>()
        ships = records.compactMap { $0?.ship }.filter { seen.insert($0.id).inserted }
    }
}

/// One ship as the API sends it. Any field may be missing, null or of an unexpected type; missing and null mean the
/// same.
struct ShipRecord: Decodable, Sendable {
    /// The ship; nil without a usable id and a name.
    let ship: Ship?

    private enum Key: String, CodingKey {
        case id, name, type, roles, active, image
        case yearBuilt = "year_built"
        case homePort = "home_port"
        case massKilograms = "mass_kg"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard let id = (try? fields.decode(String.self, forKey: .id)).flatMap(ItemPaths.identity),
            let name = Self.text(fields, .name)
        else {
            ship = nil
            return
        }
        ship = Ship(
            id: id,
            name: name,
            type: Self.text(fields, .type),
            roles: ((try? fields.decode(TolerantList<String>.self, forKey: .roles))?.values ?? [])
                .prefix(Ship.maximumRoles).compactMap { $0.flatMap(Self.meaningful) },
            isActive: (try? fields.decode(Bool.self, forKey: .active)) ?? false,
            yearBuilt: Self.number(fields, .yearBuilt).flatMap(Self.year),
            homePort: Self.text(fields, .homePort),
            massKilograms: Self.number(fields, .massKilograms),
            imageURL: Self.text(fields, .image)
        )
    }

    private static func text(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> String? {
        (try? fields.decode(String.self, forKey: key)).flatMap(meaningful)
    }

    private static func meaningful(_ text: String) -> String? { text.rowText(longest: Ship.longestText) }

    /// A finite number; the API (Mongoose) sends integers and fractions.
    private static func number(_ fields: KeyedDecodingContainer<Key>, _ key: Key) -> Double? {
        (try? fields.decode(Double.self, forKey: key)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// A year as a positive integer, nil for others.
    private static func year(_ number: Double) -> Int? {
        Int(exactly: number.rounded(.towardZero)).flatMap { $0 > 0 ? $0 : nil }
    }
}
