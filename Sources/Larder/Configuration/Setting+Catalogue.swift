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

    /// All settings: `--help`, `docs/configuration.md` and the reading of settings are made from this list.
    static let catalogue: [Setting] =
        [
            Setting("http.host", .text, default: "127.0.0.1", "address to listen on"),
            Setting("http.port", .integer(0...65535), default: "8080", "port to listen on; 0 is any free one"),
            Setting(
                "http.allowed_hosts",
                .hosts,
                default: "",
                "host names served in addition to the bound address and localhost"
            ),
            Setting(
                "http.allowed_origins",
                .origins,
                default: "",
                "web origins that may read and write from a browser; * is every origin"
            ),
            Setting(
                "http.connections",
                .integer(1...100_000),
                default: "1024",
                "largest number of open connections; more wait to be accepted"
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
                "how long a client may accept no bytes of a response"
            ),
            Setting(
                "http.stop_timeout_ms",
                .integer(10...600_000),
                default: "10000",
                "how long requests in progress may continue after SIGTERM"
            ),
            Setting(
                "data.directory",
                .text,
                default: nil,
                "data directory; $XDG_DATA_HOME/larder, else ~/.local/share/larder; with --sandbox larder-sandbox there"
            ),
        ]
        + upstreams.flatMap { upstream in
            ofUpstream(
                upstream.name,
                standards: [
                    "url": upstream.url ?? "",
                    "allowed_hosts": allowedHosts[upstream.name] ?? "",
                    // Responses of Yandex belong to one account.
                    "shared": upstream.name.hasPrefix("yandex_") ? "false" : "true",
                ],
                remark: " (\(upstream.title))"
            )
        }
        + [
            Setting("freshness.ships_s", .integer(0...31_536_000), default: "5", "freshness time of the ships"),
            Setting(
                "freshness.disk_s",
                .integer(0...31_536_000),
                default: "5",
                "freshness time of the Disk's lists and profile"
            ),
            Setting(
                "freshness.shop_s",
                .integer(0...31_536_000),
                default: "30",
                "freshness time of products of the Shop app"
            ),
            Setting(
                "freshness.categories_s",
                .integer(0...31_536_000),
                default: "3600",
                "freshness time of categories of the Shop app"
            ),
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
            Setting(
                "disk.time_zone",
                .text,
                default: "UTC",
                "time zone of the Disk app's texts if a request names none",
                note: "a name of the time zone database"
            ),
            Setting(
                "disk.operation_wait_ms",
                .integer(0...600_000),
                default: "10000",
                "how long a write waits for an asynchronous operation of Yandex Disk before the response is 202"
            ),
            Setting("disk.downloads", .integer(1...64), default: "4", "concurrent downloads of the Disk app"),
            Setting(
                "disk.oauth_client_id",
                .text,
                default: "",
                "client id of your application at Yandex OAuth; empty: no login with a code"
            ),
            Setting(
                "disk.oauth_client_secret",
                .text,
                default: "",
                "client secret of that application, if it has one; best set in the environment"
            ),
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
                "categories whose products take a whole row, by id or name"
            ),
            Setting(
                "shop.picture_hosts",
                .list,
                default: "",
                "hosts of product pictures that may be at private addresses, on any port",
                note: "public ones need not be listed"
            ),
            Setting(
                "pdf.files",
                .integer(1...10_000),
                default: "200",
                "largest number of files in one upload of the PDF app"
            ),
            Setting("pdf.upload_mb", .integer(1...65_536), default: "500", "largest upload of the PDF app, in MiB"),
            Setting(
                "pdf.draft_lifetime_s",
                .integer(1...31_536_000),
                default: "86400",
                "lifetime of an unsaved document after its last change"
            ),
            Setting(
                "pdf.thumbnails_mb",
                .integer(0...65_536),
                default: "64",
                "space for pictures of pages, in MiB; the least recently used is evicted first"
            ),
            Setting(
                "freshness.places_s",
                .integer(0...31_536_000),
                default: "2592000",
                "freshness time of the geocoder's responses"
            ),
            Setting("people.path", .text, default: "/api/729a5c80", "path of the people below upstreams.people.url"),
            Setting(
                "people.key",
                .text,
                default: "",
                "key of the people API, sent as X-API-Key; best set in the environment or the file"
            ),
            Setting("people.count", .integer(1...5000), default: "120", "number of people that are fetched"),
            Setting(
                "notes.scrypt_logarithm",
                .integer(10...20),
                default: "15",
                "cost of hashing a password: each step doubles time and memory (15: 32 MiB)"
            ),
            Setting(
                "notes.attempts_per_account",
                .integer(1...100_000),
                default: "10",
                "failed logins for one user name before it has to wait"
            ),
            Setting(
                "notes.attempts_per_address",
                .integer(1...100_000),
                default: "100",
                "failed logins from one client address before it has to wait"
            ),
            Setting(
                "notes.attempt_window_s",
                .integer(1...86_400),
                default: "900",
                "time after which all attempts are available again"
            ),
            Setting(
                "sandbox.port",
                .integer(0...65535),
                default: "0",
                "port of the sandbox on 127.0.0.1; 0 is any free one",
                note: "with `serve --sandbox` the last one of this data directory, if it is free"
            ),
            Setting(
                "sandbox.seed",
                .integer(0...Int.max),
                default: "1",
                "seed of the sandbox's generated data and random faults"
            ),
            Setting(
                "cache.budget_mb",
                .integer(1...1_048_576),
                default: "512",
                "size limit of what is cached, in MiB; the least recently used is evicted first",
                note: "user data never ([decision 13](decisions/0013-cache-budget.md))"
            ),
            Setting(
                "rendered.budget_mb",
                .integer(0...65_536),
                default: "64",
                "memory for the cache of complete responses, in MiB; 0 caches none",
                note: "see [decision 14](decisions/0014-rendered-answers.md)"
            ),
        ]
        + media
        + [
            Setting(
                "clock.start",
                .instant,
                default: "",
                "initial time of Larder's clock, which runs on from there; empty: the machine's time"
            ),
            Setting(
                "log.level",
                .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
                default: "info",
                "lowest level of messages that are logged"
            ),
            Setting("log.format", .choice(["text", "json"]), default: "text", "format of the log on standard error"),
        ]

    /// The setting of a key.
    static func named(_ key: String) -> Setting? { catalogue.first { $0.key == key } ?? ofUpstream(key: key) }
}
