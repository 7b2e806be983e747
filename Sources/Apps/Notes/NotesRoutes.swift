import HTTPTypes
public import Screens

/// The Notes app over HTTP: the table, and nothing else.
public struct NotesRoutes: Sendable {
    private let service: NoteService

    /// Routes to a service.
    public init(service: NoteService) {
        self.service = service
    }

    /// The table.
    public var routes: [Route] {
        let member = Route.Access.session(app: "notes")
        // A character of a note may be six bytes of JSON.
        let noteBytes = 8 * Note.longestBody
        return [
            Route(.get, "/v1/notes/launch", "notes.launch", service.launch),
            Route(.post, "/v1/notes/session", "notes.session", service.openSession),
            Route(.get, "/v1/notes/session", "notes.session", access: member, service.showSession),
            Route(.delete, "/v1/notes/session", "notes.session", access: member, service.closeSession),
            Route(.get, "/v1/notes", "notes.list", access: member, service.list),
            Route(.post, "/v1/notes", "notes.details", access: member, maximumBodyBytes: noteBytes, service.create),
            Route(.get, "/v1/notes/map", "notes.map", access: member, service.map),
            Route(.get, "/v1/notes/places", "notes.places", access: member, service.places),
            Route(.get, "/v1/notes/people", "notes.people", access: member, service.people),
            Route(.get, "/v1/notes/people/{id}", "notes.person", access: member, service.person),
            Route(.get, "/v1/notes/people/{id}/avatar", "notes.avatar", access: member, service.avatar),
            Route(.get, "/v1/notes/{id}", "notes.details", access: member, service.details),
            Route(
                .patch,
                "/v1/notes/{id}",
                "notes.details",
                access: member,
                maximumBodyBytes: noteBytes,
                service.change
            ),
            Route(.delete, "/v1/notes/{id}", "notes.list", access: member, service.delete),
        ]
    }
}
