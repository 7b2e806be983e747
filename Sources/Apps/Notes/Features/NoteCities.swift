import Freshness
import Screens

/// The cities of the gazetteer, to be named on a map.
struct NoteCities: Sendable {
    let gazetteer: Gazetteer

    /// `GET /v1/notes/cities`: the largest cities of an area. They are the same for all users.
    @Sendable func show(_ request: ScreenRequest) throws -> ScreenResponse {
        let box = try request.query.boundingBox() ?? .world
        let limit = try request.query.integer("limit", in: 1...200) ?? 50
        let cities = gazetteer.largest(limit, in: box)
        return try .local(
            NoteCitiesScreen(items: cities.map(Self.row)),
            "notes.cities",
            request,
            state: cities.isEmpty ? .empty : .content,
            changeToken: .unlimited
        )
    }

    private static func row(_ city: Gazetteer.City) -> NoteCitiesScreen.City {
        NoteCitiesScreen.City(
            name: Text(city.name, ru: city.otherNames.first ?? city.name),
            lat: city.coordinate.latitude,
            lon: city.coordinate.longitude,
            population: city.population * 1000
        )
    }
}
