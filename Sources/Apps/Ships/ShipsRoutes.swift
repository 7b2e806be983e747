import HTTPTypes
public import Screens

/// The Ships app over HTTP: the table, and nothing else.
public struct ShipsRoutes: Sendable {
    private let service: ShipService

    /// Routes to a service.
    public init(service: ShipService) {
        self.service = service
    }

    /// The table.
    public var routes: [Route] {
        let member = Route.Access.session(app: "ships")
        return [
            Route(.get, "/v1/ships/launch", "ships.launch", service.launch),
            Route(.post, "/v1/ships/session", "ships.session", service.openSession),
            Route(.get, "/v1/ships/session", "ships.session", access: member, service.showSession),
            Route(.delete, "/v1/ships/session", "ships.session", access: member, service.closeSession),
            Route(.get, "/v1/ships", "ships.list", access: member, service.list),
            Route(.post, "/v1/ships/restore", "ships.list", access: member, service.restore),
            Route(.get, "/v1/ships/{id}", "ships.details", access: member, service.details),
            Route(.delete, "/v1/ships/{id}", "ships.list", access: member, service.delete),
            Route(.get, "/v1/ships/{id}/image", "ships.image", access: member, service.image),
        ]
    }
}
