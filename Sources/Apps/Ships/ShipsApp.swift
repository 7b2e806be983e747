package import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Logging
import Media
package import Screens
package import Storage
import Upstream

/// The Ships app: the ships of the SpaceX API with a login, a list, details, pictures and deletions.
///
/// This is the smallest of the apps and shows how all are built. This file describes the app and has its routes, each
/// feature has a file with its handlers and screens, `Store` has the tables, and `SpaceXAPI` is the upstream.
package struct ShipsApp: App {
    package static let name = ShipStore.app
    package static let title = Text("SpaceX ships", ru: "Корабли SpaceX")
    package static let migrations = ShipStore.migrations
    package static let records = [RecordTable("ship") { _ = try Ship(row: $0) }]
    package static let replicated: JournalTables? = ShipStore.replicated

    let upstream: Upstream
    let store: ShipStore
    let sessions: SessionStore
    let events: EventStream
    let pictures: ScaledPictures
    let snapshot: ShipSnapshot
    let settings: SettingValues
    let clock: WallClock
    /// When ships were last deleted, or in literal mode last restored by a refresh.
    let lastChange: LatestDate
    private let logger: Logger

    /// - Throws: `DecodingError` or `ShipSnapshot.Damaged` if the bundled snapshot cannot be read.
    package init(_ context: AppContext) throws {
        try self.init(context, snapshot: .bundled())
    }

    init(_ context: AppContext, snapshot: ShipSnapshot) throws {
        upstream = try context.upstream(Self.spacex)
        store = ShipStore(context.users)
        pictures = ScaledPictures(of: upstream, context.media.pictures, clock: context.clock)
        (sessions, events, self.snapshot) = (context.sessions, context.events, snapshot)
        (settings, clock, logger) = (context.settings, context.clock, context.logger)
        lastChange = LatestDate(clock.now())
        // No one can open a guest's account again.
        let isGone = { @Sendable (expired: SessionStore.Expired) in expired.isLast && Self.isGuest(expired.account) }
        sessions.letExpire(
            sessionsOf: Self.name,
            { [store] in if isGone($0) { try store.removeMarks(of: $0.account, $1) } },
            shared: { [store] in if isGone($0) { try await store.removeMarks(of: $0.account) } }
        )
    }

    package static var routes: [AppRoute<Self>] {
        [
            Route(.get, "/v1/ships/launch", "ships.launch", showLaunch),
            Route(.post, "/v1/ships/session", "ships.session", openSession).body("mode", "username", "password")
                .unkeyed(),
            Route(.get, "/v1/ships/session", "ships.session", session: showSession),
            Route(.delete, "/v1/ships/session", "ships.session", session: closeSession).unkeyed(),
            Route(.get, "/v1/ships", "ships.list", session: showList)
                .query("q", .page, "since_revision", "refresh"),
            Route(.post, "/v1/ships/restore", "ships.list", session: restoreShips).answering().body("ids"),
            Route(.get, "/v1/ships/{id}", "ships.details", session: showShip).query("refresh"),
            Route(.delete, "/v1/ships/{id}", "ships.list", session: deleteShip).answering(),
            Route(.get, "/v1/ships/{id}/image", "ships.image", session: showImage).query("width", "refresh"),
        ]
    }

    /// Refreshes the list after the upstream recovers.
    ///
    /// A failure is logged and not retried: the upstream's health knows of it, and the next recovery calls this again.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {
        do {
            _ = try await refresh(.revalidate)
        } catch {
            logger.warning("ships could not be refreshed after recovery", metadata: ["error": "\(error)"])
        }
    }
}

extension ShipsApp {
    static let spacex = UpstreamDescription(
        "spacex",
        title: "SpaceX",
        url: "https://api.spacexdata.com",
        probePath: shipsPath,
        allowedHosts: ["i.imgur.com", "imgur.com", "photos.marinetraffic.com"]
    )
    package static let upstreams = [spacex]
    package static let problems: [ProblemCode] = [.shipDeleted]
    static let freshness = Setting(
        "freshness.ships_s",
        .seconds(0...31_536_000),
        default: .seconds(5),
        "freshness time of the ships"
    )
    static let loginDelay = Setting(
        "ships.login_delay_ms",
        .milliseconds(0...60_000),
        default: .milliseconds(2_500),
        "how long a login of the Ships app takes"
    )
    static let accounts = Setting(
        "ships.accounts",
        .elements(
            "words of the form e-mail:password",
            column: "`e-mail:password`",
            element: { ShipsAccount($0) },
            text: { "\($0.username):\($0.password)" }
        ),
        default: [],
        "users who may log in to the Ships app; empty: any e-mail address with any password",
        note: "a password has no comma; best set in the environment"
    )
    static let deletion = Setting(
        "ships.deleted",
        .choice,
        default: DeletionMode.hidden,
        "whether deleted ships stay hidden, or a refresh restores them (literal)"
    )
    package static let settings: [any SettingDeclaration] = [freshness, loginDelay, accounts, deletion]

    /// The effect of a refresh on deleted ships.
    enum DeletionMode: String, Sendable, CaseIterable {
        /// A deleted ship stays deleted until it is restored.
        case hidden
        /// The next refresh restores it, as the rules of the original app say to the letter.
        case literal
    }
}

extension ProblemCode {
    static let shipDeleted = ProblemCode("ship-deleted", .notFound, .shipDeleted)
}

extension ShipsApp {
    /// `GET /v1/ships/launch`: every cold start shows the login.
    private func showLaunch(_ request: ScreenRequest) async throws -> ScreenResponse {
        let screen = LaunchScreen(route: .login(to: Self.name), logins: Self.logins)
        return try .local(screen, "ships.launch", request, changeToken: .unlimited)
    }

    /// Accounts: with a name those of users, without one those of guests.
    package var seeding: Seeding {
        Seeding { [sessions, clock] fields, token in
            try fields.requireOnly("app", "name", "token")
            let name = try fields.string("name")
            guard name.map(EmailAddress.isValid) ?? true else {
                throw Problem.validation([.field("/name", "invalid", .emailForm)])
            }
            let account = name.map(Self.account) ?? Self.guest()
            let session = Session(
                app: Self.name,
                kind: name == nil ? .guest : .user,
                account: account,
                name: name,
                createdAt: clock.now()
            )
            return SeedStep { try sessions.seed(session, token: token, in: $0) }
        }
    }
}

extension ShipsApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("ships.launch", .ships),
        ScreenForm(
            "ships.session",
            .ships,
            [.name("name"), Label("alert"), Label("message"), Label("button")]
        ),
        ScreenForm("ships.list", .ships, tab: "/v1/ships", search: "/v1/ships", [.name("name")] + summary),
        ScreenForm(
            "ships.details",
            Text("Ship", ru: "Корабль"),
            summary + [
                Label("weight_kg_text", Text("Weight", ru: "Масса")),
                Label("home_port_text", Text("Home port", ru: "Порт приписки")),
                Label("roles_text", Text("Roles", ru: "Назначение")),
            ]
        ),
    ]

    private static let summary: [Label] = [
        .picture("image_url"), Label("type_text", Text("Type", ru: "Тип")),
        Label("year_built_text", Text("Built", ru: "Год постройки")),
    ]

    /// The login, and the way past it.
    static let logins = [
        Action(
            id: "login",
            title: Text("Login", ru: "Войти"),
            method: "POST",
            href: "/v1/ships/session",
            body: ["mode": .text("login")],
            fields: [
                Action.Field("username", .text, Text("E-mail", ru: "Эл. почта")),
                Action.Field("password", .password, .password),
            ]
        ),
        Action(
            id: "guest",
            title: Text("Continue as Guest", ru: "Продолжить как гость"),
            method: "POST",
            href: "/v1/ships/session",
            body: ["mode": .text("guest")]
        ),
    ]
}

extension ShipDetailsScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: name) }
}

extension Text {
    fileprivate static let ships = Text("Ships", ru: "Корабли")
}
