package import AppInterface
package import Screens
package import Settings

extension ShipsApp {
    /// The SpaceX API.
    static let spacex = UpstreamDescription(
        "spacex",
        title: "SpaceX",
        url: "https://api.spacexdata.com",
        probePath: SpaceXAPI.shipsPath,
        allowedHosts: ["i.imgur.com", "imgur.com", "photos.marinetraffic.com"]
    )
    /// The upstreams of the app.
    package static let upstreams = [spacex]
    /// The problem codes of the app.
    package static let problems: [ProblemCode] = [.shipDeleted]
    /// The settings of the app.
    package static let settings = [
        Setting("freshness.ships_s", .integer(0...31_536_000), default: "5", "freshness time of the ships"),
        Setting(
            "ships.login_delay_ms",
            .integer(0...60_000),
            default: "2500",
            "how long a login of the Ships app takes"
        ),
        Setting(
            "ships.deleted",
            .choice(["hidden", "literal"]),
            default: "hidden",
            "whether deleted ships stay hidden, or a refresh restores them (literal)"
        ),
    ]
}

extension ShipsApp.Options {
    /// Reads the options of the app.
    init(_ settings: SettingValues) throws(SettingError) {
        self.init(
            loginDelay: try settings.milliseconds("ships.login_delay_ms"),
            deletion: try settings.choice("ships.deleted")
        )
    }
}
