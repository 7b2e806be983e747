import Foundation
import Freshness
import Screens
import Upstream

/// Suggestions of places: from the account's notes, the gazetteer and the geocoder.
struct NotePlaces: Sendable {
    let store: NoteStore
    let gazetteer: Gazetteer
    let geocoder: GeocoderClient?
    let clock: WallClock

    /// `GET /v1/notes/places`: at most five places whose names begin with `q`. It does not fail if the geocoder is out
    /// of reach; `meta.partial` says so then.
    @Sendable func suggest(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let question = (try request.query.string("q") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard question.unicodeScalars.count <= Note.Location.longestName else {
            throw Problem.invalidParameter("q", accepted: "accepts \(Note.Location.longestName) characters")
        }
        let changeToken = store.changeToken(account: account)
        let search = SearchQuery(question)
        let own = try store.places(search, account: account, limit: Place.mostSuggestions).map {
            Place(name: $0.name, region: "", coordinate: $0.coordinate, source: .notes)
        }
        let known = gazetteer.search(question, limit: Place.mostSuggestions)
        let online = search.isEmpty ? nil : try await askGeocoder(question, try request.cachePolicy())
        let places = Place.suggestions(own: own, gazetteer: known, geocoder: online?.places ?? [])
        let provenance = online?.provenance ?? .local
        let meta = Meta(
            screen: "notes.places",
            state: places.isEmpty ? .empty : .content,
            provenance: provenance,
            partial: online.map { $0.places == nil }
        )
        return try .screen(
            Envelope(data: PlacesScreen(places, question: question), meta: meta, links: Links(self: request.selfLink)),
            provenance: provenance,
            now: clock.now(),
            changeToken: online == nil ? changeToken : online?.changeToken?.and(changeToken)
        )
    }

    private struct GeocoderResult {
        /// nil if the request to the geocoder failed.
        var places: [Place]?
        var provenance: Provenance
        var changeToken: ChangeToken?
    }

    /// Returns the places of the geocoder; nil if there is none, or the question is too short for it.
    private func askGeocoder(_ question: String, _ cachePolicy: CachePolicy) async throws -> GeocoderResult? {
        guard let geocoder, question.count >= GeocoderClient.shortestQuestion else { return nil }
        let resource = geocoder.places(question, limit: Place.mostSuggestions, bundledAt: gazetteer.date)
        do {
            let reading = try await geocoder.upstream.read(resource, cachePolicy)
            let body = if let response = reading.response { try await store.bytes(of: response) } else { Data?.none }
            return GeocoderResult(
                places: body.flatMap(GeocoderClient.places),
                provenance: reading.provenance,
                changeToken: reading.changeToken
            )
        } catch let error as UpstreamError {
            // The response says that a part is missing: while the user types, a missing suggestion is no reason for an
            // error.
            var isOffline = false
            if case .unreachable = error { isOffline = true }
            return GeocoderResult(places: nil, provenance: Provenance(source: .local, offline: isOffline))
        }
    }
}
