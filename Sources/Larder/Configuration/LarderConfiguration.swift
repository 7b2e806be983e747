import Disk
import Foundation
import HTTPTypes
import Logging
import Media
import Notes
import PDF
import Screens
import Ships
import Shop
import Storage
import Upstream

/// Everything that Larder is told at start, read and checked.
struct LarderConfiguration: Sendable {
    var host: String
    var port: Int
    var allowedHosts: [String]
    var allowedOrigins: [String]
    var limits: ConnectionLimits
    /// How long requests under way may go on after SIGTERM.
    var stopTimeout: Duration
    var dataDirectory: URL
    /// Most that is cached.
    var cacheBudget: CacheBudget
    /// The upstreams in use, by name.
    var upstreams: [String: UpstreamConfiguration]
    /// Those that the sandbox stands in for, once its address is known.
    private var simulated: [String: @Sendable (URL) -> UpstreamConfiguration] = [:]
    /// Bytes that rendered answers may take; 0 keeps none.
    var renderedBudget: Int
    var shipsFreshness: Duration
    var ships: ShipsApp.Options
    var diskFreshness: Duration
    var disk: DiskApp.Options
    /// The application at Yandex OAuth; nil where none is configured.
    var diskClient: YandexOAuthClient.Application?
    var shopFreshness: Duration
    var categoryFreshness: Duration
    var shop: ShopApp.Options
    var placesFreshness: Duration
    var people: PeopleClient.Options
    var notes: NotesApp.Options
    /// Work on pictures and documents.
    var media: MediaConfiguration
    var pdf: PDFApp.Options
    var sandboxPort: Int
    var sandboxSeed: UInt64
    /// What the clock shows at start; nil for the machine's time.
    var clockStart: Date?
    var logLevel: Logger.Level
    var logFormat: LogFormat

    /// Reads and checks all settings. With `sandbox`, data goes to a directory of its own by default: simulated ships
    /// must not mix with real ones; and an upstream whose address nobody has set is used when ``simulate(_:at:)`` tells
    /// where it is.
    init(_ settings: SettingsReader, environment: [String: String], sandbox: Bool = false) throws {
        try settings.checkAll()
        host = try settings.text("http.host")
        port = try settings.integer("http.port")
        allowedHosts = try settings.list("http.allowed_hosts")
        allowedOrigins = try settings.list("http.allowed_origins")
        limits = ConnectionLimits()
        limits.connections = try settings.integer("http.connections")
        limits.headerBytes = try settings.integer("http.header_bytes")
        limits.urlBytes = try settings.integer("http.url_bytes")
        limits.headDeadline = try settings.milliseconds("http.head_timeout_ms")
        limits.idleTimeout = try settings.milliseconds("http.idle_timeout_ms")
        limits.bodyDeadline = try settings.milliseconds("http.body_timeout_ms")
        limits.writeDeadline = try settings.milliseconds("http.write_timeout_ms")
        stopTimeout = try settings.milliseconds("http.stop_timeout_ms")
        dataDirectory = Self.dataDirectory(
            try settings.text("data.directory"),
            environment: environment,
            sandbox: sandbox
        )
        cacheBudget = CacheBudget(bytes: try settings.integer("cache.budget_mb") << 20)
        upstreams = [:]
        for upstream in Setting.upstreams {
            let configured = try Self.upstream(upstream.name, title: upstream.title, settings)
            if sandbox, !settings.isSet("upstreams.\(upstream.name).url") {
                simulated[upstream.name] = configured
            } else if let url = try settings.url("upstreams.\(upstream.name).url") {
                upstreams[upstream.name] = configured(url)
            }
        }
        renderedBudget = try settings.integer("rendered.budget_mb") << 20
        for name in settings.furtherUpstreams {
            let key = "upstreams.\(name).url"
            guard let url = try settings.url(key) else {
                throw SettingError.unacceptable(
                    key: key,
                    value: "",
                    source: "settings of upstream \(name)",
                    accepted: Setting.acceptedURL
                )
            }
            upstreams[name] = try Self.upstream(name, title: name, settings)(url)
        }
        shipsFreshness = try settings.seconds("freshness.ships_s")
        ships = ShipsApp.Options(
            loginDelay: try settings.milliseconds("ships.login_delay_ms"),
            deletion: .init(rawValue: try settings.text("ships.deleted")) ?? .hidden
        )
        diskFreshness = try settings.seconds("freshness.disk_s")
        disk = DiskApp.Options(
            timeZone: try Self.timeZone("disk.time_zone", settings),
            operationWait: try settings.milliseconds("disk.operation_wait_ms"),
            downloads: try settings.integer("disk.downloads"),
            budget: cacheBudget
        )
        diskClient = try Self.diskClient(settings)
        shopFreshness = try settings.seconds("freshness.shop_s")
        categoryFreshness = try settings.seconds("freshness.categories_s")
        shop = ShopApp.Options(wideCategories: try settings.list("shop.wide_categories"))
        placesFreshness = try settings.seconds("freshness.places_s")
        people = PeopleClient.Options(
            path: try settings.text("people.path"),
            key: Secret(try settings.text("people.key")),
            count: try settings.integer("people.count")
        )
        notes = NotesApp.Options(
            scryptLogarithm: try settings.integer("notes.scrypt_logarithm"),
            attemptsPerAccount: try settings.integer("notes.attempts_per_account"),
            attemptsPerAddress: try settings.integer("notes.attempts_per_address"),
            attemptWindow: try settings.seconds("notes.attempt_window_s")
        )
        media = try MediaConfiguration(settings, environment: environment)
        pdf = try Self.pdf(settings, media.limits)
        sandboxPort = try settings.integer("sandbox.port")
        sandboxSeed = UInt64(try settings.integer("sandbox.seed"))
        clockStart = try? Date(try settings.text("clock.start"), strategy: .iso8601)
        logLevel = .init(rawValue: try settings.text("log.level")) ?? .info
        logFormat = .init(rawValue: try settings.text("log.format")) ?? .text
    }

    private static func timeZone(_ key: String, _ settings: SettingsReader) throws -> TimeZone {
        let name = try settings.text(key)
        guard let timeZone = TimeZone(identifier: name) else {
            throw SettingError.unacceptable(
                key: key,
                value: name,
                source: "settings",
                accepted: "a name of the time zone database, such as Europe/Moscow"
            )
        }
        return timeZone
    }

    private static func diskClient(_ settings: SettingsReader) throws -> YandexOAuthClient.Application? {
        let (id, secret, redirect) = (
            try settings.text("disk.oauth_client_id"), try settings.text("disk.oauth_client_secret"),
            try settings.text("disk.oauth_redirect_uri")
        )
        return id.isEmpty
            ? nil
            : .init(
                id: id,
                secret: secret.isEmpty ? nil : Secret(secret),
                redirectURI: redirect.isEmpty ? nil : redirect
            )
    }

    /// Limits of the PDF app: those of the work on pictures and documents, and its own.
    private static func pdf(_ settings: SettingsReader, _ limits: MediaLimits) throws -> PDFApp.Options {
        PDFApp.Options(
            maximumFiles: try settings.integer("pdf.files"),
            maximumFileBytes: max(limits.pictureBytes, limits.pdfBytes),
            maximumUploadBytes: try settings.integer("pdf.upload_mb") << 20,
            maximumPages: limits.pdfPages,
            maximumTextBytes: limits.textBytes,
            maximumWidth: min(2000, limits.pageWidth),
            thumbnailBytes: try settings.integer("pdf.thumbnails_mb") << 20,
            draftLifetime: try settings.seconds("pdf.draft_lifetime_s")
        )
    }

    /// The sandbox simulates an upstream at this address. It takes the place of the default one only: an address that
    /// somebody has set is used.
    mutating func simulate(_ name: String, at url: URL) {
        if let configured = simulated[name] { upstreams[name] = configured(url) }
    }

    /// One upstream, for whichever address it has.
    private static func upstream(_ name: String, title: String, _ settings: SettingsReader) throws
        -> @Sendable (URL) -> UpstreamConfiguration
    {
        let key = "upstreams.\(name)"
        let (connectTimeout, totalTimeout) = (
            try settings.milliseconds("\(key).connect_timeout_ms"), try settings.milliseconds("\(key).total_timeout_ms")
        )
        let (patience, probeInterval) = (
            try settings.milliseconds("\(key).patience_ms"), try settings.milliseconds("\(key).probe_interval_ms")
        )
        let (allowedHosts, pictureHosts) = (
            try settings.list("\(key).allowed_hosts"), try settings.list("shop.picture_hosts")
        )
        let mount = try mount(name, settings)
        return { url in
            var configuration = UpstreamConfiguration(
                name: name,
                title: title,
                baseURL: url,
                connectTimeout: connectTimeout,
                totalTimeout: totalTimeout,
                patience: patience,
                probeInterval: probeInterval,
                allowedHosts: allowedHosts,
                hasSessions: name == "yandex_disk",
                probePath: name == "spacex"
                    ? ShipsApp.probePath : name == "catalogue" ? ShopApp.probePath : "/",
                mount: mount
            )
            if name == "catalogue" {
                // Anybody writes to that catalogue and names any host for pictures.
                configuration.followsPublicLinks = true
                configuration.trustedHosts = pictureHosts
            }
            return configuration
        }
    }

    private static func mount(_ name: String, _ settings: SettingsReader) throws -> MountOptions {
        let key = "upstreams.\(name)"
        let words = try settings.list("\(key).methods")
        let methods = words.compactMap { HTTPRequest.Method($0.uppercased()) }
        guard methods.count == words.count, !methods.contains(.connect) else {
            throw SettingError.unacceptable(
                key: "\(key).methods",
                value: words.joined(separator: ","),
                source: "settings",
                accepted: "methods of HTTP but CONNECT, separated by commas"
            )
        }
        return MountOptions(
            shared: try settings.flag("\(key).shared"),
            methods: methods,
            lastGood: try settings.flag("\(key).last_good"),
            heuristics: try settings.flag("\(key).heuristics"),
            // A body that is a large part of the budget would push out all others. Those of Yandex hold links and
            // tokens that open files to whoever has them: they are passed on and not kept.
            maximumStoredBytes: name.hasPrefix("yandex_") ? 0 : try settings.integer("cache.budget_mb") << 18
        )
    }

    /// `$XDG_DATA_HOME/larder`, else `~/.local/share/larder` (XDG Base Directory Specification); `larder-sandbox` with
    /// the sandbox.
    private static func dataDirectory(_ wanted: String, environment: [String: String], sandbox: Bool) -> URL {
        if !wanted.isEmpty { return URL(filePath: wanted, directoryHint: .isDirectory) }
        let name = sandbox ? "larder-sandbox" : "larder"
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return URL(filePath: base).appending(path: name)
        }
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share/\(name)")
    }
}
