import AppInterface
import Foundation
import Freshness
import Logging
import Media
import ResponseStore
import Screens
import Settings
import Upstream

/// The configuration of a process, read from its settings and checked.
struct LarderConfiguration: Sendable {
    /// The apps that it is made for.
    let apps: AppList
    /// The values of all settings, of which each app gets its own.
    let settings: SettingValues
    /// This process among others.
    let node: NodeConfiguration
    /// The data of several processes; nil for a process that has all of its data itself.
    var store: StoreConfiguration?
    var http: HTTPConfiguration
    var dataDirectory: URL
    /// Whether data survives a loss of power.
    var isDurable = true
    /// Whether it is that of a space: other servers do not see its data, and it only reads the data that it shares with
    /// them.
    var isSpace = false
    /// Size limit of the cache on disk.
    let cacheBudget: CacheBudget
    /// Size limit of the response cache in memory, in bytes; 0 turns it off.
    let responseCacheBytes: Int
    /// When the pages of the database are checked after an unclean stop.
    let storageCheck: StorageCheckTime
    /// Time without a use after which a session ends; nil for none.
    let sessionLifetime: Duration?
    /// The upstreams that have an address.
    var upstreams: ConfiguredUpstreams
    /// Work on pictures and documents.
    let media: MediaConfiguration
    let web: WebConfiguration
    var sandbox: SandboxConfiguration
    /// The time that the clock shows at start; nil for the machine's time.
    var clockStart: Date?
    /// Names of the apps that other processes serve, and of upstreams that only those apps use.
    var elsewhere: (apps: Set<String>, upstreams: Set<String>) { node.elsewhere(of: apps) }
    /// The clock of a server that is not under test.
    var clock: WallClock { clockStart.map { WallClock.starting(at: $0) } ?? .system }
    let log: LogConfiguration

    /// Reads all settings.
    /// - Parameters:
    ///   - reader: the sources of settings
    ///   - environment: of the process
    ///   - apps: the apps whose settings the reader knows
    ///   - sandbox: whether upstreams are simulated. Data then has a directory of its own by default, so that simulated
    ///     data does not mix with real data, and upstreams whose address is not set get one later
    ///     (``ConfiguredUpstreams/simulate(_:at:)``).
    ///   - harness: whether tests control the server. Its data has a directory of its own by default, since a reset
    ///     erases it.
    /// - Throws: `SettingError` for the first setting that cannot be used.
    init(
        _ reader: SettingsReader,
        environment: [String: String],
        apps: AppList = .standard,
        sandbox: Bool = false,
        harness: Bool = false
    ) throws(SettingError) {
        let settings = try reader.values()
        self.apps = apps
        self.settings = settings
        node = try NodeConfiguration(settings, all: apps)
        http = try HTTPConfiguration(settings)
        store = try StoreConfiguration(settings, apps: node.apps, access: http.access, isUnderTest: harness)
        dataDirectory = DataLocation(environment: environment, isSandbox: sandbox, isHarness: harness).url(
            try settings.text("data.directory")
        )
        cacheBudget = CacheBudget(bytes: try settings.mebibytes("cache.budget_mb"))
        responseCacheBytes = try settings.mebibytes("rendered.budget_mb")
        storageCheck = try settings.choice("storage.check")
        let days = try settings.integer("session.lifetime_days")
        sessionLifetime = days == 0 ? nil : .seconds(days * 86_400)
        upstreams = try ConfiguredUpstreams(
            settings,
            described: apps.upstreams,
            further: reader.furtherUpstreams,
            sandbox: sandbox
        )
        media = try MediaConfiguration(settings, environment: environment)
        web = try WebConfiguration(settings, upstreams)
        self.sandbox = try SandboxConfiguration(settings)
        clockStart = try settings.instant("clock.start")
        log = try LogConfiguration(settings, node: node.name)
    }
}

/// The values of the setting `storage.check`.
enum StorageCheckTime: String, Sendable {
    /// While the server runs.
    case background
    /// Before it serves.
    case start
    /// Not at all.
    case never
}

/// The settings `sandbox.*`.
struct SandboxConfiguration: Sendable {
    var port: Int
    var seed: UInt64
    /// Whether the seed was set.
    let isSeeded: Bool

    init(_ settings: SettingValues) throws(SettingError) {
        port = try settings.integer("sandbox.port")
        seed = UInt64(try settings.integer("sandbox.seed"))
        isSeeded = settings.isSet("sandbox.seed")
    }
}

/// Location of the data (XDG Base Directory Specification).
struct DataLocation {
    let environment: [String: String]
    let isSandbox: Bool
    var isHarness = false

    /// Returns the directory that is configured, else `$XDG_DATA_HOME/larder`, else `~/.local/share/larder`;
    /// `larder-sandbox` with the sandbox, `larder-harness` with a harness and real upstreams.
    func url(_ configured: String) -> URL {
        if !configured.isEmpty { return URL(filePath: configured, directoryHint: .isDirectory) }
        let name = isSandbox ? "larder-sandbox" : isHarness ? "larder-harness" : "larder"
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return URL(filePath: base).appending(path: name)
        }
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share/\(name)")
    }
}

/// The settings `node.*`: this process among others that serve the same clients.
struct NodeConfiguration: Sendable {
    /// Its name in status, log and metrics; nil for a process that has none.
    let name: String?
    /// The apps that it serves, of those that Larder is made of.
    let apps: AppList

    /// Reads the settings.
    ///
    /// - Parameter all: The apps that Larder is made of.
    /// - Throws: `SettingError` for an app that does not exist, and for a name that is no word.
    init(_ settings: SettingValues, all: AppList) throws(SettingError) {
        let name = try settings.text("node.name")
        let isName =
            name.utf8.count <= 64
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        guard isName else {
            throw .unacceptable(
                key: "node.name",
                value: name,
                source: "settings",
                accepted: "at most 64 letters, digits, dots, hyphens and underscores"
            )
        }
        self.name = name.isEmpty ? nil : name
        let names = try settings.list("node.apps")
        let known = all.types.map { $0.name }
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw .unacceptable(
                key: "node.apps",
                value: unknown,
                source: "settings",
                accepted: known.joined(separator: ", ") + ", separated by commas, or nothing for all of them"
            )
        }
        apps = names.isEmpty ? all : AppList(all.types.filter { names.contains($0.name) })
    }

    /// - Parameter all: The apps that Larder is made of.
    /// - Returns: Names of apps, and of upstreams that only those apps use.
    func elsewhere(of all: AppList) -> (apps: Set<String>, upstreams: Set<String>) {
        let served = Set(apps.types.map { $0.name })
        let others = all.types.filter { !served.contains($0.name) }
        let used = Set(apps.upstreams.map(\.name))
        return (Set(others.map { $0.name }), Set(others.flatMap { $0.upstreams }.map(\.name)).subtracting(used))
    }
}

/// The settings `web.*`.
struct WebConfiguration: Sendable {
    /// Whether the front end is served.
    let isEnabled: Bool
    /// Folder of its files; nil for those of the program.
    let folder: URL?
    /// The description of the server in `GET /v1`.
    let description: IndexRoutes.Web

    /// Reads the settings.
    ///
    /// - Throws: `SettingError` if the tiles are those of an upstream without an address.
    init(_ settings: SettingValues, _ upstreams: ConfiguredUpstreams) throws(SettingError) {
        let (tiles, attribution) = (try settings.text("web.tiles"), try settings.text("web.tiles_attribution"))
        guard tiles.isEmpty || upstreams.byName[tiles] != nil else {
            throw .unacceptable(
                key: "web.tiles",
                value: tiles,
                source: "settings",
                accepted: "the name of an upstream with an address, upstreams.NAME.url"
            )
        }
        description = IndexRoutes.Web(
            tiles: tiles.isEmpty ? nil : tiles,
            attribution: attribution.isEmpty ? nil : attribution,
            maxZoom: try settings.integer("web.tiles_max_zoom"),
            diskOAuth: !((try? settings.text("disk.oauth_client_id")) ?? "").isEmpty
        )
        isEnabled = try settings.flag("web.enabled")
        let path = try settings.text("web.directory")
        folder = path.isEmpty ? nil : URL(filePath: path, directoryHint: .isDirectory)
    }
}

/// The settings `media.*`: work on pictures and documents.
struct MediaConfiguration: Sendable {
    /// The programs that were found.
    var tools: MediaTools
    /// The limits of the work.
    var limits: MediaLimits

    init(_ settings: SettingValues, environment: [String: String]) throws(SettingError) {
        tools = MediaTools.find(
            searchPath: environment["PATH"] ?? "",
            pdfWorker: try settings.text("media.pdf_worker"),
            executable: Self.executable()
        )
        limits = MediaLimits()
        limits.children = try settings.integer("media.children")
        limits.waiting = try settings.integer("media.waiting")
        limits.pictureBytes = try settings.mebibytes("media.picture_mb")
        limits.picturePixels = try settings.integer("media.picture_megapixels") * 1_000_000
        limits.pageWidth = try settings.integer("media.page_width")
        limits.pdfBytes = try settings.mebibytes("media.pdf_mb")
        limits.pdfPages = try settings.integer("media.pdf_pages")
        limits.textBytes = try settings.integer("media.text_kb") << 10
        limits.textPages = try settings.integer("media.text_pages")
        limits.officeBytes = try settings.mebibytes("media.office_mb")
        for tool in Setting.mediaTools {
            limits[keyPath: tool.limits].memory = try settings.mebibytes("media.\(tool.name)_memory_mb")
            limits[keyPath: tool.limits].processor = try settings.seconds("media.\(tool.name)_cpu_s")
            limits[keyPath: tool.limits].wall = try settings.seconds("media.\(tool.name)_timeout_s")
            limits[keyPath: tool.limits].fileBytes = try settings.mebibytes("media.\(tool.name)_file_mb")
        }
    }

    /// Returns the path of the running executable, also if it was started by its bare name.
    private static func executable() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }
}
