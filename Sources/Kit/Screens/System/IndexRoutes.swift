import Concurrency
import HTTP
import HTTPTypes

/// `GET /v1`: the apps, their screens and paths.
package struct IndexRoutes: Sendable {
    package struct App: Encodable, Sendable {
        let app: String
        let title: Text
        let screens: [Screen]
    }

    /// One screen of an app.
    struct Screen: Encodable, Sendable {
        let screen: String
        /// Absent if it is none that people see.
        let title: Text?
        let method: String
        let href: String
        let template: String
        let session: Bool

        init(_ route: Route, _ forms: ScreenForms) {
            screen = route.screen
            title = route.method == .get ? forms.title(of: route.screen) : nil
            method = route.method.rawValue
            href = route.path
            template = route.template
            session = route.sessionApp != nil
        }
    }

    /// Facts about this server for front ends.
    package struct Web: Encodable, Sendable {
        /// URI template of the tiles of a street map, with `z`, `x` and `y`.
        @Nullable var tiles: String?
        /// Whose tiles these are, to be shown on the map.
        @Nullable var attribution: String?
        /// The last zoom that has tiles.
        let maxZoom: Int
        /// Whether the Disk can be logged in to by OAuth.
        let diskOauth: Bool

        /// - Parameters:
        ///   - tiles: Name of a mount; nil for no street map.
        ///   - attribution: Whose tiles these are.
        ///   - maxZoom: The last zoom that has tiles.
        ///   - diskOAuth: Whether the Disk can be logged in to by OAuth.
        package init(tiles: String? = nil, attribution: String? = nil, maxZoom: Int = 19, diskOAuth: Bool = false) {
            self.tiles = tiles.map { "\(MountRoutes.prefix)\($0)/{z}/{x}/{y}.png" }
            self.attribution = attribution
            self.maxZoom = maxZoom
            diskOauth = diskOAuth
        }
    }

    struct Content: Encodable, Sendable {
        let name: String
        let version: String
        let contractUrl: String
        let web: Web
        let apps: [App]
        let screens: [Screen]
    }

    private let content: Content

    /// - Parameter apps: names and titles of the apps, in order
    package init(
        version: String,
        apps: [(app: String, title: Text)],
        web: Web = Web(),
        table: RouteTable
    ) {
        let names = Set(apps.map(\.app))
        let screens = Dictionary(grouping: table.routes) { route in
            Self.app(of: route).flatMap { names.contains($0) ? $0 : nil }
        }.mapValues { $0.map { Screen($0, table.forms) } }
        content = Content(
            name: "Larder",
            version: version,
            contractUrl: ContractRoutes.path,
            web: web,
            apps: apps.map { App(app: $0.app, title: $0.title, screens: screens[$0.app] ?? []) },
            screens: screens[nil] ?? []
        )
    }

    private static func app(of route: Route) -> String? {
        let segments = route.path.split(separator: "/")
        return segments.count > 1 && segments[0] == "v1" ? String(segments[1]) : nil
    }

    package var routes: [Route] {
        [
            Route(.get, "/v1", "index") { try .local(content, "index", $0, changeToken: .unlimited) }
        ]
    }
}

/// `GET /openapi.yaml` and `GET /openapi.json`: the contract, for people, tests and generators of clients.
package struct ContractRoutes: Sendable {
    package enum Format: Sendable {
        case yaml, json
    }

    private let text: @Sendable (_ app: String?, Format) throws -> PreparedBytes?
    private let apps: @Sendable () throws -> [String]

    /// - Parameters:
    ///   - text: returns the contract, or the part of one app; nil if there is no such app.
    ///   - apps: returns the names of the parts.
    package init(
        text: @escaping @Sendable (_ app: String?, Format) throws -> PreparedBytes?,
        apps: @escaping @Sendable () throws -> [String]
    ) {
        self.text = text
        self.apps = apps
    }

    /// The address that the index names.
    static let path = "/openapi.yaml"

    package var routes: [Route] {
        [
            Route(.get, Self.path, "contract") { try response($0, .yaml) }.query("app"),
            Route(.get, "/openapi.json", "contract.json") { try response($0, .json) }.query("app"),
        ]
    }

    /// The contract changes with the version of the server only.
    private func response(_ request: ScreenRequest, _ format: Format) throws -> ScreenResponse {
        guard let prepared = try text(try request.query.string("app"), format) else {
            let names = try apps().joined(separator: ", ")
            throw Problem.invalidParameter("app", accepted: "accepts \(names)")
        }
        return ScreenResponse(
            headerFields: [.cacheControl: "public, max-age=300"],
            body: .prepared(prepared),
            changeToken: .unlimited
        )
    }
}
