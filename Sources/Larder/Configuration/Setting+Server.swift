import Media
import Settings

/// The settings of the server itself.
extension Setting {
    /// Connections, guards and the data directory.
    static let http: [Setting] = [
        Setting("http.host", .text, default: "127.0.0.1", "address to listen on"),
        Setting(
            "http.access",
            .choice(["loopback", "pairing", "open"]),
            default: "loopback",
            "who gets in: this machine only, also paired devices, or everyone who reaches the port",
            note: "`http.host` beyond loopback needs one of the last two ([operations](operations.md#network-access))"
        ),
        Setting(
            "http.operator_key",
            .text,
            default: "",
            "key of at least 32 characters with which Larder-Operator operates the server; best set in the environment",
            note: "without one, only the machine itself does ([operations](operations.md#network-access))"
        ),
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
            "http.public_url",
            .url,
            default: "",
            "URL at which a proxy, such as one for TLS, serves this server; its host and its origin are allowed",
            note: "scheme, host and port only: pages of `https://larder.example` may then write"
        ),
        Setting(
            "http.tls_certificate",
            .text,
            default: "",
            "file with the certificate of this server and those behind it, in PEM; with it, Larder speaks HTTPS only",
            note: "read again at SIGHUP; [larder certificate](operations.md#https-for-phones) makes one"
        ),
        Setting(
            "http.tls_key",
            .text,
            default: "",
            "file with the key of the certificate, in PEM and without a passphrase"
        ),
        Setting(
            "http.trusted_proxies",
            .addressRanges,
            default: "",
            "proxies that name the addresses of clients in X-Forwarded-For or Forwarded",
            note: "see [decision 56](decisions/0056-addresses-of-clients.md)"
        ),
        Setting(
            "http.connections",
            .integer(1...100_000),
            default: "1024",
            "largest number of open connections; more wait to be accepted",
            note: "fewer if the limit of open files does not leave 128 for everything else"
        ),
        Setting(
            "http.connections_per_address",
            .integer(0...100_000),
            default: "0",
            "largest number of open connections of one client address; more are closed; 0 is half of http.connections",
            note: "an IPv6 client counts by its /64 network; trusted proxies may have any number"
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
            "longest time for a request body to arrive; a second more with each 16 KiB of it"
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

    /// The simulated upstreams.
    static let sandbox: [Setting] = [
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
            "seed of the sandbox's people, tokens and pictures; ships, products and files are always the same"
        ),
    ]

    /// The front end that the server brings along.
    static let web: [Setting] = [
        Setting("web.enabled", .choice(["true", "false"]), default: "true", "whether the web pages are served"),
        Setting(
            "web.directory",
            .text,
            default: "",
            "folder whose files are served as those of the web pages, for changing them; empty: those of the program",
            note: "files are read anew for each request, and symbolic links are not followed"
        ),
        Setting(
            "web.tiles",
            .text,
            default: "",
            "name of the upstream with the tiles of a street map, at {z}/{x}/{y}.png; empty: the outline of the world",
            note: "its mount keeps them; mind the terms of the service, which may ask for a `User-Agent` and forbid "
                + "fetching many"
        ),
        Setting("web.tiles_attribution", .text, default: "", "whose tiles these are, as it is shown on the map"),
        Setting("web.tiles_max_zoom", .integer(0...24), default: "19", "last zoom that has tiles"),
    ]

    /// The cache on disk and in memory.
    static let cache: [Setting] = [
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

    /// The stored data.
    static let storage: [Setting] = [
        Setting(
            "storage.check",
            .choice(["background", "start", "never"]),
            default: "background",
            "when the pages of the database are checked after an unclean stop",
            note: "`start` refuses to serve a damaged database; `background` serves meanwhile, replaces damaged "
                + "tables of the cache by empty ones and reports others, also if a damaged page is met later "
                + "([decision 49](decisions/0049-pages-are-checked-in-the-background.md))"
        )
    ]

    /// Sessions of all apps.
    static let session: [Setting] = [
        Setting(
            "session.lifetime_days",
            .integer(0...36_500),
            default: "400",
            "days without a use after which a session ends; 0 is never",
            note: "with the last session of a Disk account, all that is stored of it is removed"
        )
    ]

    /// One process among several.
    static let node: [Setting] = [
        Setting(
            "node.name",
            .text,
            default: "",
            "name of this process in status, log and metrics, where several serve the same clients"
        ),
        Setting(
            "node.apps",
            .list,
            default: "",
            "the apps that this process serves; empty: all",
            note: "requests for other apps and their upstreams are 421 `misdirected-request`; see [scale](scale.md)"
        ),
    ]

    /// The data that several processes share.
    static let store: [Setting] = [
        Setting(
            "store.url",
            .text,
            default: "",
            "PostgreSQL for what users make, which several processes share; none: the data directory",
            note:
                "`postgresql://larder@127.0.0.1:5432/larder`; for the apps that [scale](scale.md#alike-processes) names"
        ),
        Setting(
            "store.connections",
            .integer(1...1000),
            default: "16",
            "most connections to the store, and one that listens"
        ),
        Setting(
            "store.timeout_ms",
            .integer(100...600_000),
            default: "3000",
            "time of one operation of the store, connecting included; then 503 `store-unavailable`"
        ),
        Setting(
            "store.kept_ms",
            .integer(0...60_000),
            default: "1000",
            "how long a response of users' data is kept without asking the store; 0: not at all"
        ),
        Setting(
            "store.key_file",
            .text,
            default: "",
            "file of 32 bytes with the key that seals secrets in the store, the same for all processes; for the Disk",
            note: "`head -c 32 /dev/urandom` makes one ([scale](scale.md#users-data-in-postgresql))"
        ),
    ]

    /// Clock and log.
    static let process: [Setting] = [
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
}

extension Setting {
    /// The tools whose limits can be set, as their keys name them.
    static let mediaTools:
        [(name: String, limits: any WritableKeyPath<MediaLimits, ChildLimits> & Sendable, what: String)] = [
            ("vips", \.vips, "vips, which decodes and scales pictures"),
            ("pdftoppm", \.pdftoppm, "pdftoppm, which draws pages"),
            ("soffice", \.soffice, "soffice, which converts office files"),
            ("pdf_worker", \.pdfWorker, "larder-pdf-worker, which makes and changes PDFs"),
        ]

    /// Settings of work on pictures and documents. The defaults are those of `MediaLimits`.
    static let media: [Setting] = {
        let limits = MediaLimits()
        func count(_ key: String, _ range: ClosedRange<Int>, _ standard: Int, _ summary: String) -> Setting {
            Setting("media.\(key)", .integer(range), default: "\(standard)", summary)
        }
        let ofAll = [
            Setting(
                "media.pdf_worker",
                .text,
                default: "",
                "path of larder-pdf-worker; empty: beside larder, then on the PATH"
            ),
            count("children", 1...64, limits.children, "concurrent programs for pictures and documents"),
            count("waiting", 1...10_000, limits.waiting, "jobs that may wait; more are refused with 503"),
            count("picture_mb", 1...1024, limits.pictureBytes >> 20, "largest picture file, in MiB"),
            count(
                "picture_megapixels",
                1...2000,
                limits.picturePixels / 1_000_000,
                "largest picture, in millions of pixels"
            ),
            count("page_width", 16...8000, limits.pageWidth, "widest picture of a page, in pixels"),
            count("pdf_mb", 1...2047, limits.pdfBytes >> 20, "largest PDF that is read, in MiB"),
            count("pdf_pages", 1...100_000, limits.pdfPages, "largest number of pages of a document"),
            count("text_kb", 1...65_536, limits.textBytes >> 10, "longest text for text pages, in KiB"),
            count("text_pages", 1...10_000, limits.textPages, "largest number of pages that a text may take"),
            count("office_mb", 1...1024, limits.officeBytes >> 20, "largest office file, in MiB"),
        ]
        let ofTools = mediaTools.flatMap { tool in
            let limits = limits[keyPath: tool.limits]
            let program = tool.what.prefix { $0 != "," }
            return [
                count(
                    "\(tool.name)_memory_mb",
                    16...1_048_576,
                    limits.memory >> 20,
                    "address space of \(tool.what), in MiB"
                ),
                count(
                    "\(tool.name)_cpu_s",
                    1...86_400,
                    Int(limits.processor.components.seconds),
                    "processor time of \(program) for one job"
                ),
                count(
                    "\(tool.name)_timeout_s",
                    1...86_400,
                    Int(limits.wall.components.seconds),
                    "wall time of \(program) for one job"
                ),
                count(
                    "\(tool.name)_file_mb",
                    1...65_536,
                    limits.fileBytes >> 20,
                    "largest file that \(program) may write, in MiB"
                ),
            ]
        }
        return ofAll + ofTools
    }()
}
