import Notes
import Screens
import Upstream

extension Composition {
    /// Adds the Notes app. Its geocoder is optional.
    mutating func addNotes() throws {
        guard let people = upstream("people") else { return }
        let app = NotesApp(
            store: NoteStore(database),
            people: PeopleClient(upstream: people, options: configuration.people),
            geocoder: upstream("geocoder").map {
                GeocoderClient(upstream: $0, freshness: configuration.placesFreshness)
            },
            gazetteer: try .bundled(),
            sessions: sessions,
            events: events,
            options: configuration.notes,
            clock: clock
        )
        table.add(app.routes)
        apps.append(("notes", "Notes on a map"))
    }
}
