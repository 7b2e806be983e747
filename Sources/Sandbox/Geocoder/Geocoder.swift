import Foundation
import HTTPTypes
import JSONValues

/// A geocoder with the interface of Photon (komoot/photon): places whose name, or the name of their city, has words
/// that begin as the query does (`GET /api?q=&limit=`), and the place at a position (`GET /reverse?lat=&lon=`).
struct Geocoder: SimulatedUpstream {
    let name = SandboxUpstream.geocoder.rawValue

    func reset() {}

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        throw .notFound("The geocoder has no controls of its own; GET /_sandbox lists what there is.")
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        guard request.method == .get || request.method == .head else {
            return .json(.notFound, ["message": "Not found"])
        }
        switch request.path {
        case ["api"]: return search(request)
        case ["reverse"]: return reverse(request)
        default: return .json(.notFound, ["message": "Not found"])
        }
    }

    /// The places within about a kilometre of a position.
    private func reverse(_ request: UpstreamRequest) -> UpstreamResponse {
        let value = { (name: String) in request.query.first { $0.name == name }.flatMap { Double($0.value) } }
        guard let latitude = value("lat"), let longitude = value("lon") else {
            return .json(.badRequest, ["message": "missing search term 'lat' and/or 'lon': /?lat=52.5&lon=13.3"])
        }
        let found = Self.places.filter { place in
            guard let north = Double(place.latitude), let east = Double(place.longitude) else { return false }
            return abs(north - latitude) < 0.01 && abs(east - longitude) < 0.01
        }
        return .json(.ok, ["features": .array(found.map(\.feature)), "type": "FeatureCollection"])
    }

    private func search(_ request: UpstreamRequest) -> UpstreamResponse {
        guard let question = request.query.first(where: { $0.name == "q" })?.value, !question.isEmpty else {
            return .json(.badRequest, ["message": "missing search term 'q': /?q=berlin"])
        }
        let limit = max(1, min(request.query.first { $0.name == "limit" }.flatMap { Int($0.value) } ?? 15, 50))
        let found = Self.places.filter { $0.matches(question) }.prefix(limit)
        return .json(.ok, ["features": .array(found.map(\.feature)), "type": "FeatureCollection"])
    }

    private struct Slot {
        let name: String
        let city: String
        let country: String
        let code: String
        let latitude: String
        let longitude: String

        func matches(_ question: String) -> Bool {
            let words = Self.words("\(name) \(city)")
            return Self.words(question).allSatisfy { wanted in words.contains { $0.hasPrefix(wanted) } }
        }

        private static func words(_ text: String) -> [Substring] {
            text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).split {
                !$0.isLetter && !$0.isNumber
            }
        }

        /// A feature of RFC 7946: the longitude comes first.
        var feature: JSONValue {
            [
                "geometry": ["coordinates": [.number(longitude), .number(latitude)], "type": "Point"],
                "type": "Feature",
                "properties": [
                    "osm_type": "N", "name": .string(name), "city": .string(city), "country": .string(country),
                    "countrycode": .string(code), "type": "house",
                ],
            ]
        }
    }

    private static let places = [
        Slot(
            name: "Laguna Street",
            city: "San Francisco",
            country: "United States",
            code: "US",
            latitude: "37.7914",
            longitude: "-122.4277"
        ),
        Slot(
            name: "Lagunda Bakery",
            city: "Springfield",
            country: "United States",
            code: "US",
            latitude: "39.79",
            longitude: "-89.64"
        ),
        Slot(
            name: "Ferry Building",
            city: "San Francisco",
            country: "United States",
            code: "US",
            latitude: "37.7955",
            longitude: "-122.3937"
        ),
        Slot(
            name: "Tower Bridge",
            city: "London",
            country: "United Kingdom",
            code: "GB",
            latitude: "51.5055",
            longitude: "-0.0754"
        ),
        Slot(
            name: "Parisian Garden",
            city: "Lyon",
            country: "France",
            code: "FR",
            latitude: "45.7797",
            longitude: "4.8527"
        ),
        Slot(
            name: "Café Zürich",
            city: "Basel",
            country: "Switzerland",
            code: "CH",
            latitude: "47.5584",
            longitude: "7.5733"
        ),
        Slot(
            name: "Парк Победы",
            city: "Казань",
            country: "Россия",
            code: "RU",
            latitude: "55.8297",
            longitude: "49.1082"
        ),
        Slot(
            name: "Old Mill",
            city: "Berlin",
            country: "Germany",
            code: "DE",
            latitude: "52.5017",
            longitude: "13.3802"
        ),
        Slot(
            name: "Berliner Straße",
            city: "Frankfurt am Main",
            country: "Germany",
            code: "DE",
            latitude: "50.1118",
            longitude: "8.6831"
        ),
        Slot(
            name: "Harbour Steps",
            city: "Suva",
            country: "Fiji",
            code: "FJ",
            latitude: "-18.1416",
            longitude: "178.4419"
        ),
    ]
}
