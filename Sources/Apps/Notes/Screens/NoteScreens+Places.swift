import Screens

/// `GET /v1/notes/places`.
struct PlacesScreen: Encodable, Sendable {
    struct Suggestion: Encodable, Sendable {
        let name: String
        /// Country, or city and country; empty if it is not known.
        let region: String
        /// Both in one line.
        let text: String
        let lat: Double
        let lon: Double
        let source: Place.Source

        init(_ place: Place) {
            name = place.name
            region = place.region
            text = place.region.isEmpty ? place.name : "\(place.name), \(place.region)"
            lat = place.coordinate.latitude
            lon = place.coordinate.longitude
            source = place.source
        }
    }

    let items: [Suggestion]
    let empty: EmptyState?

    init(_ places: [Place], question: String) {
        items = places.map(Suggestion.init)
        empty = places.isEmpty ? (question.isEmpty ? .noQuestion : .noPlaces) : nil
    }
}
