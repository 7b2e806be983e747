import Cluster
import Foundation
import Logging
import Media
import Sandbox
import Screens
import Storage

/// The settings of the server itself, except those of connections (``HTTPSettings``).
enum ServerSettings {
    static let dataDirectory = Setting(
        "data.directory",
        .folder,
        default: nil,
        isShown: false,
        "data directory; $XDG_DATA_HOME/larder, else ~/.local/share/larder; with --sandbox larder-sandbox there"
    )

    // MARK: The front end that the server brings along

    static let webEnabled = Setting("web.enabled", .flag, default: true, "whether the web pages are served")
    static let webDirectory = Setting(
        "web.directory",
        .folder,
        default: nil,
        "folder whose files are served as those of the web pages, for changing them; empty: those of the program",
        note: "files are read anew for each request, and symbolic links are not followed"
    )
    static let tiles = Setting(
        "web.tiles",
        .text,
        default: "",
        "name of the upstream with the tiles of a street map, at {z}/{x}/{y}.png; empty: the outline of the world",
        note: "its mount keeps them; mind the terms of the service, which may ask for a `User-Agent` and forbid "
            + "fetching many"
    )
    static let tilesAttribution = Setting(
        "web.tiles_attribution",
        .text,
        default: "",
        "whose tiles these are, as it is shown on the map"
    )
    static let tilesMaxZoom = Setting("web.tiles_max_zoom", .integer(0...24), default: 19, "last zoom that has tiles")

    // MARK: The simulated upstreams

    static let sandboxPort = Setting(
        "sandbox.port",
        .integer(0...65535),
        default: 0,
        "port of the sandbox on 127.0.0.1; 0 is any free one",
        note: "with `serve --sandbox` the last one of this data directory, if it is free"
    )
    static let sandboxSeed = Setting(
        "sandbox.seed",
        .numbers(0...Int.max, value: { UInt64($0) }, number: { Int(clamping: $0) }),
        default: SandboxConfiguration().seed,
        "seed of the sandbox's people, tokens and pictures; ships, products and files are always the same"
    )

    // MARK: The cache on disk and in memory

    static let cacheBudget = Setting(
        "cache.budget_mb",
        .numbers(1...1_048_576, value: { CacheBudget(bytes: $0 << 20) }, number: { $0.bytes >> 20 }),
        default: CacheBudget(bytes: 512 << 20),
        "size limit of what is cached, in MiB; the least recently used is evicted first",
        note: "user data never ([decision 13](decisions/0013-cache-budget.md))"
    )
    static let responseCacheBytes = Setting(
        "rendered.budget_mb",
        .mebibytes(0...65_536),
        default: 64 << 20,
        "memory for the cache of complete responses, in MiB; 0 caches none",
        note: "see [decision 14](decisions/0014-rendered-answers.md)"
    )

    // MARK: The stored data

    static let storageCheck = Setting(
        "storage.check",
        .choice,
        default: StorageCheckTime.background,
        "when the pages of the database are checked after an unclean stop",
        note: "`start` refuses to serve a damaged database; `background` serves meanwhile, replaces damaged "
            + "tables of the cache by empty ones and reports others, also if a damaged page is met later "
            + "([decision 49](decisions/0049-pages-are-checked-in-the-background.md))"
    )

    // MARK: Sessions of all apps

    static let sessionLifetime = Setting<Duration?>(
        "session.lifetime_days",
        .numbers(0...36_500, value: { $0 == 0 ? nil : .days($0) }, number: { Int(($0 ?? .zero) / .days(1)) }),
        default: .days(400),
        "days without a use after which a session ends; 0 is never",
        note: "with the last session of a Disk account, all that is stored of it is removed"
    )

    // MARK: One process among several

    static let nodeName = Setting(
        "node.name",
        .text,
        default: "",
        "name of this process in status, log and metrics, where several serve the same clients"
    )
    static let nodeApps = Setting(
        "node.apps",
        .list,
        default: [],
        "the apps that this process serves; empty: all",
        note: "requests for other apps and their upstreams are 421 `misdirected-request`; see [scale](scale.md)"
    )

    // MARK: The data that several processes share

    static let storeURL = Setting(
        "store.url",
        .text,
        default: "",
        "PostgreSQL for what users make, which several processes share; none: the data directory",
        note: "`postgresql://larder@127.0.0.1:5432/larder`; for the apps that [scale](scale.md#alike-processes) names"
    )
    static let storeConnections = Setting(
        "store.connections",
        .integer(1...1000),
        default: PostgresOptions(url: "").connections,
        "most connections to the store, and one that listens"
    )
    static let storeTimeout = Setting(
        "store.timeout_ms",
        .milliseconds(100...600_000),
        default: PostgresOptions(url: "").timeout,
        "time of one operation of the store, connecting included; then 503 `store-unavailable`"
    )
    static let storeKept = Setting(
        "store.kept_ms",
        .milliseconds(0...60_000),
        default: .seconds(1),
        "how long a response of users' data is kept without asking the store; 0: not at all"
    )
    static let storeKeyFile = Setting(
        "store.key_file",
        .text,
        default: "",
        "file of 32 bytes with the key that seals secrets in the store, the same for all processes; for the Disk",
        note: "`head -c 32 /dev/urandom` makes one ([scale](scale.md#users-data-in-postgresql))"
    )

    // MARK: Clock and log

    static let clockStart = Setting(
        "clock.start",
        .instant,
        default: nil,
        "initial time of Larder's clock, which runs on from there; empty: the machine's time"
    )
    static let logLevel = Setting(
        "log.level",
        .choice,
        default: Logger.Level.info,
        "lowest level of messages that are logged"
    )
    static let logFormat = Setting(
        "log.format",
        .choice,
        default: LogFormat.text,
        "format of the log on standard error"
    )

    static let all: [any SettingDeclaration] =
        [
            webEnabled, webDirectory, tiles, tilesAttribution, tilesMaxZoom, sandboxPort, sandboxSeed, cacheBudget,
            responseCacheBytes, storageCheck, sessionLifetime,
        ] + MediaSettings.all + [
            nodeName, nodeApps, storeURL, storeConnections, storeTimeout, storeKept, storeKeyFile, clockStart,
            logLevel, logFormat,
        ]
}

/// The settings `media.*` of work on pictures and documents.
enum MediaSettings {
    static let worker = Setting(
        "media.pdf_worker",
        .text,
        default: "",
        "path of larder-pdf-worker; empty: beside larder, then on the PATH"
    )
    static var all: [any SettingDeclaration] { [worker] + limits.map(\.setting) }

    /// A setting, and the limit that it sets.
    struct Limit: Sendable {
        let setting: any SettingDeclaration
        let apply: @Sendable (SettingValues, inout MediaLimits) -> Void

        /// The default is the one in `MediaLimits`.
        init<Part, Value: Sendable>(
            _ name: String,
            _ form: SettingForm<Value>,
            _ part: any WritableKeyPath<MediaLimits, Part> & Sendable,
            _ limit: any WritableKeyPath<Part, Value> & Sendable,
            _ summary: String
        ) {
            let standard = MediaLimits()[keyPath: part][keyPath: limit]
            let setting = Setting("media.\(name)", form, default: standard, summary)
            self.setting = setting
            apply = { $1[keyPath: part][keyPath: limit] = $0[setting] }
        }

        init<Value: Sendable>(
            _ name: String,
            _ form: SettingForm<Value>,
            _ limit: any WritableKeyPath<MediaLimits, Value> & Sendable,
            _ summary: String
        ) {
            self.init(name, form, \.self, limit, summary)
        }

        /// The limits of a program.
        static func all(
            _ tool: String,
            _ limits: any WritableKeyPath<MediaLimits, ChildLimits> & Sendable,
            _ purpose: String
        ) -> [Limit] {
            let program = tool == "pdf_worker" ? "larder-pdf-worker" : tool
            return [
                Limit(
                    "\(tool)_memory_mb",
                    .mebibytes(16...1_048_576),
                    limits,
                    \.memory,
                    "address space of \(program), which \(purpose), in MiB"
                ),
                Limit(
                    "\(tool)_cpu_s",
                    .seconds(1...86_400),
                    limits,
                    \.processor,
                    "processor time of \(program) for one job"
                ),
                Limit(
                    "\(tool)_timeout_s",
                    .seconds(1...86_400),
                    limits,
                    \.wall,
                    "wall time of \(program) for one job"
                ),
                Limit(
                    "\(tool)_file_mb",
                    .mebibytes(1...65_536),
                    limits,
                    \.fileBytes,
                    "largest file that \(program) may write, in MiB"
                ),
            ]
        }
    }

    static let limits =
        [
            Limit("children", .integer(1...64), \.children, "concurrent programs for pictures and documents"),
            Limit("waiting", .integer(1...10_000), \.waiting, "jobs that may wait; more are refused with 503"),
            Limit("picture_mb", .mebibytes(1...1024), \.pictureBytes, "largest picture file, in MiB"),
            Limit(
                "picture_megapixels",
                .integer(1...2000, unit: 1_000_000),
                \.picturePixels,
                "largest picture, in millions of pixels"
            ),
            Limit("page_width", .integer(16...8000), \.pageWidth, "widest picture of a page, in pixels"),
            Limit("pdf_mb", .mebibytes(1...2047), \.pdfBytes, "largest PDF that is read, in MiB"),
            Limit("pdf_pages", .integer(1...100_000), \.pdfPages, "largest number of pages of a document"),
            Limit("text_kb", .kibibytes(1...65_536), \.textBytes, "longest text for text pages, in KiB"),
            Limit("text_pages", .integer(1...10_000), \.textPages, "largest number of pages that a text may take"),
            Limit("office_mb", .mebibytes(1...1024), \.officeBytes, "largest office file, in MiB"),
        ] + Limit.all("vips", \.vips, "decodes and scales pictures")
        + Limit.all("pdftoppm", \.pdftoppm, "draws pages")
        + Limit.all("soffice", \.soffice, "converts office files")
        + Limit.all("pdf_worker", \.pdfWorker, "makes and changes PDFs")
}
