extension Setting {
    /// Upstreams whose addresses can be set, with the real ones.
    static let upstreams: [(name: String, title: String, url: String?)] = [
        ("spacex", "SpaceX", "https://api.spacexdata.com"),
        ("yandex_disk", "Yandex Disk", "https://cloud-api.yandex.net/v1/disk"),
        ("yandex_oauth", "Yandex OAuth", "https://oauth.yandex.ru"),
        ("catalogue", "the catalogue", "https://api.escuelajs.co/api/v1"),
        ("people", "the people API", "https://api.mockaroo.com"),
        ("geocoder", "the geocoder", nil),
    ]

    /// Hosts that the links and pictures of upstreams lead to, as they are known.
    private static let allowedHosts = [
        "spacex": "i.imgur.com,imgur.com,photos.marinetraffic.com",
        "yandex_disk": "*.disk.yandex.ru,*.disk.yandex.net,*.disk.yandex.com,*.storage.yandex.net",
        "people": "robohash.org",
    ]

    /// Every setting there is: what `--help`, the README's table and the reading of settings are made from.
    static let catalogue: [Setting] =
        [
            Setting("http.host", .text, default: "127.0.0.1", "address to listen on"),
            Setting("http.port", .integer(0...65535), default: "8080", "port to listen on; 0 is any free one"),
            Setting(
                "http.allowed_hosts",
                .hosts,
                default: "",
                "host names served beside the bound address and localhost"
            ),
            Setting(
                "http.allowed_origins",
                .origins,
                default: "",
                "web origins that may read and write from a browser; * is every one"
            ),
            Setting(
                "http.connections",
                .integer(1...100_000),
                default: "1024",
                "connections open at a time, at most; more wait to be accepted"
            ),
            Setting("http.header_bytes", .integer(1024...1_048_576), default: "32768", "largest request head"),
            Setting("http.url_bytes", .integer(256...65_536), default: "8192", "longest request URL"),
            Setting(
                "http.head_timeout_ms",
                .integer(10...3_600_000),
                default: "10000",
                "longest time for a request head to arrive"
            ),
            Setting(
                "http.idle_timeout_ms",
                .integer(10...3_600_000),
                default: "60000",
                "how long a connection without a request stays open"
            ),
            Setting(
                "http.body_timeout_ms",
                .integer(10...3_600_000),
                default: "60000",
                "longest time for a request body to arrive"
            ),
            Setting(
                "http.write_timeout_ms",
                .integer(10...3_600_000),
                default: "30000",
                "how long a client may take nothing of an answer"
            ),
            Setting(
                "http.stop_timeout_ms",
                .integer(10...600_000),
                default: "10000",
                "how long requests under way may go on after SIGTERM"
            ),
            Setting(
                "data.directory",
                .text,
                default: nil,
                "where everything is kept; $XDG_DATA_HOME/larder, else ~/.local/share/larder; larder-sandbox with --sandbox"
            ),
        ]
        + upstreams.flatMap { upstream in
            ofUpstream(
                upstream.name,
                standards: [
                    "url": upstream.url ?? "",
                    "allowed_hosts": allowedHosts[upstream.name] ?? "",
                    // What Yandex answers is somebody's own.
                    "shared": upstream.name.hasPrefix("yandex_") ? "false" : "true",
                ],
                remark: " (\(upstream.title))"
            )
        }
        + [
            Setting("freshness.ships_s", .integer(0...31_536_000), default: "5", "how long the ships count as fresh"),
            Setting("freshness.disk_s", .integer(0...31_536_000), default: "5", "the same for disk lists"),
            Setting(
                "freshness.shop_s",
                .integer(0...31_536_000),
                default: "30",
                "the same for products of the Shop app"
            ),
            Setting("freshness.categories_s", .integer(0...31_536_000), default: "3600", "the same for its categories"),
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
                "whether a refresh brings deleted ships back"
            ),
            Setting(
                "disk.time_zone",
                .text,
                default: "UTC",
                "time zone of the Disk app's texts where a request names none"
            ),
            Setting(
                "disk.operation_wait_ms",
                .integer(0...600_000),
                default: "10000",
                "how long a write waits for what Yandex Disk does in its own time"
            ),
            Setting("disk.downloads", .integer(1...64), default: "4", "downloads of the Disk app under way at a time"),
            Setting(
                "disk.oauth_client_id",
                .text,
                default: "",
                "identity of your application at Yandex OAuth; empty: no login with a code"
            ),
            Setting("disk.oauth_client_secret", .text, default: "", "its secret, if it has one"),
            Setting(
                "disk.oauth_redirect_uri",
                .text,
                default: "",
                "where Yandex OAuth sends the browser; empty: as registered"
            ),
            Setting(
                "shop.wide_categories",
                .list,
                default: "1,2",
                "categories whose products stand alone in a row, by id or name"
            ),
            Setting(
                "shop.picture_hosts",
                .list,
                default: "",
                "hosts of product pictures that may be at private addresses; public ones need not be listed"
            ),
            Setting(
                "pdf.files",
                .integer(1...10_000),
                default: "200",
                "most files that one upload of the PDF app may bring"
            ),
            Setting("pdf.upload_mb", .integer(1...65_536), default: "500", "largest upload of the PDF app, in MiB"),
            Setting(
                "pdf.draft_lifetime_s",
                .integer(1...31_536_000),
                default: "86400",
                "how long a document that is not saved lives after its last change"
            ),
            Setting(
                "pdf.thumbnails_mb",
                .integer(0...65_536),
                default: "64",
                "space for pictures of pages, in MiB; the least recently used goes first"
            ),
            Setting(
                "freshness.places_s",
                .integer(0...31_536_000),
                default: "2592000",
                "how long the geocoder's answers count as fresh"
            ),
            Setting("people.path", .text, default: "/api/729a5c80", "path of the people below upstreams.people.url"),
            Setting(
                "people.key",
                .text,
                default: "",
                "key of the people API, sent as X-API-Key; best set in the environment or the file"
            ),
            Setting("people.count", .integer(1...5000), default: "120", "how many people are fetched"),
            Setting(
                "notes.scrypt_logarithm",
                .integer(10...20),
                default: "15",
                "work of hashing a password: each step doubles time and memory (15: 32 MiB)"
            ),
            Setting(
                "notes.attempts_per_account",
                .integer(1...100_000),
                default: "10",
                "wrong passwords for one user name before it has to wait"
            ),
            Setting(
                "notes.attempts_per_address",
                .integer(1...100_000),
                default: "100",
                "the same for one client address"
            ),
            Setting(
                "notes.attempt_window_s",
                .integer(1...86_400),
                default: "900",
                "time in which all attempts are back"
            ),
            Setting(
                "sandbox.port",
                .integer(0...65535),
                default: "0",
                "port of the sandbox on 127.0.0.1; 0 is any free one"
            ),
            Setting("sandbox.seed", .integer(0...Int.max), default: "1", "seed of the sandbox's made data and chance"),
            Setting(
                "cache.budget_mb",
                .integer(1...1_048_576),
                default: "512",
                "size limit of what is cached, in MiB; the least recently used goes first"
            ),
            Setting(
                "rendered.budget_mb",
                .integer(0...65_536),
                default: "64",
                "memory for answers that are kept as they went out; 0 keeps none"
            ),
        ]
        + media
        + [
            Setting(
                "clock.start",
                .instant,
                default: "",
                "the time that Larder's clock shows at start; empty: the machine's time"
            ),
            Setting(
                "log.level",
                .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
                default: "info",
                "least important messages that are logged"
            ),
            Setting("log.format", .choice(["text", "json"]), default: "text", "form of the log on standard error"),
        ]

    /// The setting of a key.
    static func named(_ key: String) -> Setting? { catalogue.first { $0.key == key } ?? ofUpstream(key: key) }
}
