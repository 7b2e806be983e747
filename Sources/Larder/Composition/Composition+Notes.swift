import Notes
import Screens
import Upstream

extension Composition {
    /// The Notes app. Its geocoder is optional.
    mutating func addNotes() throws {
        guard let people = upstream("people") else { return }
        let geocoder = upstream("geocoder").map { GeocoderAPI(upstream: $0, freshness: configuration.placesFreshness) }
        let service = NoteService(
            store: NoteStore(database),
            people: PeopleAPI(upstream: people, options: configuration.people),
            geocoder: geocoder,
            gazetteer: try .bundled(),
            sessions: sessions,
            events: events,
            options: configuration.notes,
            clock: clock
        )
        table.add(NotesRoutes(service: service).routes)
        apps.append(("notes", "Notes on a map"))
    }
}
