import Foundation
import HTTPTypes
import JSONValues

/// A geocoder with the interface of Photon (komoot/photon). `GET /api?q=&limit=` finds places by the beginnings of
/// words in their names or their city's. `GET /reverse?lat=&lon=` finds the place at a position.
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

    private struct Place {
        let name: String
        let city: String
        let country: String
        let code: String
        let latitude: String
        let longitude: String

        init(
            _ name: String,
            _ city: String,
            _ country: String,
            _ code: String,
            _ latitude: String,
            _ longitude: String
        ) {
            (self.name, self.city, self.country, self.code) = (name, city, country, code)
            (self.latitude, self.longitude) = (latitude, longitude)
        }

        func matches(_ question: String) -> Bool {
            let words = Self.words("\(name) \(city)")
            return Self.words(question).allSatisfy { wanted in words.contains { $0.hasPrefix(wanted) } }
        }

        private static func words(_ text: String) -> [Substring] {
            text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil).split {
                !$0.isLetter && !$0.isNumber
            }
        }

        /// A feature of RFC 7946, in which the longitude precedes the latitude.
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
        Place("Laguna Street", "San Francisco", "United States", "US", "37.7914", "-122.4277"),
        Place("Lagunda Bakery", "Springfield", "United States", "US", "39.79", "-89.64"),
        Place("Ferry Building", "San Francisco", "United States", "US", "37.7955", "-122.3937"),
        Place("Tower Bridge", "London", "United Kingdom", "GB", "51.5055", "-0.0754"),
        Place("Parisian Garden", "Lyon", "France", "FR", "45.7797", "4.8527"),
        Place("Café Zürich", "Basel", "Switzerland", "CH", "47.5584", "7.5733"),
        Place("Парк Победы", "Казань", "Россия", "RU", "55.8297", "49.1082"),
        Place("Old Mill", "Berlin", "Germany", "DE", "52.5017", "13.3802"),
        Place("Berliner Straße", "Frankfurt am Main", "Germany", "DE", "50.1118", "8.6831"),
        Place("Harbour Steps", "Suva", "Fiji", "FJ", "-18.1416", "178.4419"),
    ]
}
