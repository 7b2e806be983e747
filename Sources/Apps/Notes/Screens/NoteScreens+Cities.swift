import Screens

/// `GET /v1/notes/cities`.
struct NoteCitiesScreen: Encodable, Sendable {
    struct City: Encodable, Sendable {
        let name: Text
        let lat: Double
        let lon: Double
        let population: Int
    }

    let items: [City]
}
