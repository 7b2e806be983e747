import Foundation
import Screens
import Upstream

extension NoteService {
    /// `GET /v1/notes/places`: at most five places for what is being typed. Never fails for want of a network: without
    /// the geocoder, `meta.partial` says so.
    @Sendable func places(_ request: ScreenRequest) async throws -> ScreenResponse {
        let account = try account(request)
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

    private struct Online {
        /// nil: the geocoder could not be asked.
        var places: [Place]?
        var provenance: Provenance
        var changeToken: ChangeToken?
    }

    /// What the geocoder says; nil where there is none, or the question is too short for it.
    private func askGeocoder(_ question: String, _ cachePolicy: CachePolicy) async throws -> Online? {
        guard let geocoder, question.count >= GeocoderAPI.shortestQuestion else { return nil }
        let resource = geocoder.places(question, limit: Place.mostSuggestions, bundledAt: gazetteer.date)
        do {
            let reading = try await geocoder.upstream.read(resource, cachePolicy)
            let body = if let response = reading.response { try await store.bytes(of: response) } else { Data?.none }
            return Online(
                places: body.flatMap(GeocoderAPI.places),
                provenance: reading.provenance,
                changeToken: reading.changeToken
            )
        } catch let error as UpstreamError {
            // A part of the response is missing, and the response says so: a suggestion is no reason for an error while
            // somebody types.
            var isOffline = false
            if case .unreachable = error { isOffline = true }
            return Online(places: nil, provenance: Provenance(source: .local, offline: isOffline))
        }
    }
}
