import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Upstream

/// Suggestions of places: from the account's notes, the gazetteer and the geocoder.
struct NotePlaces: Sendable {
    let app: Notes

    /// `GET /v1/notes/places`: at most five places whose names begin with `q`. It does not fail if the geocoder is
    /// unreachable; `meta.partial` says so then.
    @Sendable func suggest(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let question = (try request.query.string("q") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard question.unicodeScalars.count <= Note.Location.longestName else {
            throw Problem.invalidParameter("q", accepted: "accepts \(Note.Location.longestName) characters")
        }
        let changeToken = app.store.changeToken(account: account)
        let search = WordQuery(question)
        var own: [Place]?
        let banner = try await app.store.catchUp()
        let readOwn = {
            own = try app.store.places(search, account: account, limit: Place.mostSuggestions).map {
                Place(name: $0.name, region: "", coordinate: $0.coordinate, source: .notes)
            }
        }
        let known = app.addresses.gazetteer.search(question, limit: Place.mostSuggestions)
        let online =
            search.isEmpty ? nil : try await askGeocoder(question, try request.cachePolicy(), beside: readOwn)
        if own == nil { try readOwn() }
        let places = Place.suggestions(own: own ?? [], gazetteer: known, geocoder: online?.places ?? [])
        return try response(
            to: request,
            PlacesScreen(places, question: question),
            online,
            stale: banner,
            changeToken: online == nil ? changeToken : online?.changeToken?.and(changeToken)
        )
    }

    private func response(
        to request: ScreenRequest,
        _ screen: PlacesScreen,
        _ online: GeocoderResult?,
        stale banner: Banner?,
        changeToken: ChangeToken?
    ) throws -> ScreenResponse {
        var provenance = online?.provenance ?? .local
        if banner != nil { provenance.stale = true }
        let meta = Meta(
            screen: "notes.places",
            state: screen.items.isEmpty ? .empty : .content,
            provenance: provenance,
            partial: online.map { $0.places == nil },
            banner: banner
        )
        return try .screen(
            Envelope(data: screen, meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: app.clock.now(),
            changeToken: banner == nil ? changeToken : nil
        )
    }

    private struct GeocoderResult {
        /// nil if the request to the geocoder failed.
        var places: [Place]?
        var provenance: Provenance
        var changeToken: ChangeToken?
    }

    /// Returns the places of the geocoder; nil if there is none, or the question is too short for it.
    ///
    /// - Parameter readOwn: Called in the transaction that looks for a stored response.
    private func askGeocoder(
        _ question: String,
        _ cachePolicy: CachePolicy,
        beside readOwn: () throws -> Void
    ) async throws -> GeocoderResult? {
        guard let geocoder = app.addresses.geocoder, question.count >= GeocoderClient.shortestQuestion else {
            return nil
        }
        do {
            let (result, places) = try await geocoder.readPlaces(
                question,
                limit: Place.mostSuggestions,
                bundledAt: app.addresses.gazetteer.date,
                cachePolicy,
                beside: readOwn
            )
            return GeocoderResult(places: places, provenance: result.provenance, changeToken: result.changeToken)
        } catch let error as UpstreamError {
            // The response says that a part is missing: while the user types, a missing suggestion is no reason for an
            // error.
            var isOffline = false
            if case .unreachable = error.cause { isOffline = true }
            return GeocoderResult(places: nil, provenance: Provenance(source: .local, offline: isOffline))
        }
    }
}

/// `GET /v1/notes/places`.
struct PlacesScreen: Encodable, Sendable {
    struct Suggestion: Encodable, Sendable {
        let id: String
        let name: String
        /// Country, or city and country; empty if it is not known.
        let region: String
        /// Both in one line.
        let text: String
        let lat: Double
        let lon: Double
        let source: Place.Source

        init(_ place: Place) {
            id = place.coordinate.identity(named: place.name)
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

/// The cities of the gazetteer, to be named on a map.
struct NoteCities: Sendable {
    let app: Notes

    /// `GET /v1/notes/cities`: the largest cities of an area. They are the same for all users.
    @Sendable func show(_ request: ScreenRequest) throws -> ScreenResponse {
        let box = try request.query.boundingBox() ?? .world
        let limit = try request.query.integer("limit", in: 1...200) ?? 50
        let cities = app.addresses.gazetteer.largest(limit, in: box)
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
            id: city.coordinate.identity(named: city.name),
            name: city.title,
            lat: city.coordinate.latitude,
            lon: city.coordinate.longitude,
            population: city.population * 1000
        )
    }
}

/// `GET /v1/notes/cities`.
struct NoteCitiesScreen: Encodable, Sendable {
    struct City: Encodable, Sendable {
        let id: String
        let name: Text
        let lat: Double
        let lon: Double
        let population: Int
    }

    let items: [City]
}
