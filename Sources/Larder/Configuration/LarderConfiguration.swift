import Concurrency
import Disk
import Foundation
import HTTP
import Media
import Screens
import Server
import Upstream

/// The configuration of a process: its settings, and the parts that several settings form together.
struct LarderConfiguration: Sendable {
    /// The apps whose settings it has.
    let apps: AppList
    /// The values of all settings. Each app gets its own.
    var settings: SettingValues
    /// This process among others.
    let node: NodeConfiguration
    /// The data of several processes; nil for a process that has its own data only.
    var store: StoreConfiguration?
    /// Address at which a proxy serves this server; nil if none does.
    var publicURL: PublicURL?
    /// The files of the certificate; nil for a server without TLS.
    var certificate: CertificateFiles?
    var dataDirectory: URL
    /// Whether the process runs in a continuous integration service, where nobody reads its log.
    let isCI: Bool
    /// Whether data must survive a power failure.
    var isDurable = true
    /// Whether this is the configuration of a space. Other servers do not see its data, and it only reads the data that
    /// it shares with them.
    var isSpace = false
    /// The upstreams that have an address.
    var upstreams: ConfiguredUpstreams
    /// Work on pictures and documents.
    let media: MediaConfiguration
    /// The description of the front end in `GET /v1`.
    let web: IndexRoutes.Web
    /// Names of the apps that other processes serve, and of upstreams that only those apps use.
    var elsewhere: (apps: Set<String>, upstreams: Set<String>) { node.elsewhere(of: apps) }
    /// The clock of a server that is not under test.
    var clock: WallClock { settings[ServerSettings.clockStart].map { WallClock.starting(at: $0) } ?? .system }

    /// Reads all settings.
    /// - Parameters:
    ///   - reader: The sources of settings.
    ///   - environment: The environment of the process.
    ///   - apps: The apps whose settings the reader knows.
    ///   - sandbox: Whether upstreams are simulated. Data then has a directory of its own by default, so that simulated
    ///     data does not mix with real data. Upstreams without a configured address get one later
    ///     (``ConfiguredUpstreams/simulate(_:at:)``).
    ///   - harness: Whether tests control the server. Its data has a directory of its own by default, since a reset
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
        publicURL = try settings[HTTPSettings.publicURL].map { url throws(SettingError) in try PublicURL(url) }
        certificate = try CertificateFiles(settings)
        store = try StoreConfiguration(settings, apps: node.apps, isUnderTest: harness)
        dataDirectory =
            settings[ServerSettings.dataDirectory]
            ?? DataLocation(environment: environment, isSandbox: sandbox, isHarness: harness).url
        upstreams = try ConfiguredUpstreams(
            settings,
            described: apps.upstreams,
            further: reader.furtherUpstreams,
            sandbox: sandbox
        )
        isCI = !["", "false", "0"].contains(environment["CI"] ?? "")
        media = MediaConfiguration(settings, environment: environment)
        web = try IndexRoutes.Web(settings, upstreams)
    }
}

/// The values of the setting `storage.check`.
enum StorageCheckTime: String, CaseIterable, Sendable {
    /// While the server runs.
    case background
    /// Before it serves.
    case start
    /// Not at all.
    case never
}

/// The default location of the data (XDG Base Directory Specification).
struct DataLocation {
    let environment: [String: String]
    let isSandbox: Bool
    var isHarness = false

    /// `$XDG_DATA_HOME/larder`, else `~/.local/share/larder`; `larder-sandbox` with the sandbox, `larder-harness` with
    /// a harness and real upstreams.
    var url: URL {
        let name = isSandbox ? "larder-sandbox" : isHarness ? "larder-harness" : "larder"
        if let base = environment["XDG_DATA_HOME"], base.hasPrefix("/") {
            return URL(filePath: base).appending(path: name)
        }
        let home = environment["HOME"].map { URL(filePath: $0) } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appending(path: ".local/share/\(name)")
    }
}

/// The settings `node.*` of a process that is one of several for the same clients.
struct NodeConfiguration: Sendable {
    /// Its name in status, log and metrics; nil for a process without one.
    let name: String?
    /// The apps of Larder that this process serves.
    let apps: AppList

    /// - Parameter all: All apps of Larder.
    /// - Throws: `SettingError` for an app that does not exist, and for a name that is no word.
    init(_ settings: SettingValues, all: AppList) throws(SettingError) {
        let name = settings[ServerSettings.nodeName]
        let isName =
            name.utf8.count <= 64
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
        guard isName else {
            throw .unacceptable(
                key: ServerSettings.nodeName.key,
                value: name,
                source: "settings",
                accepted: "at most 64 letters, digits, dots, hyphens and underscores"
            )
        }
        self.name = name.isEmpty ? nil : name
        let names = settings[ServerSettings.nodeApps]
        let known = all.types.map { $0.name }
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw .unacceptable(
                key: ServerSettings.nodeApps.key,
                value: unknown,
                source: "settings",
                accepted: known.joined(separator: ", ") + ", separated by commas, or nothing for all of them"
            )
        }
        apps = names.isEmpty ? all : AppList(all.types.filter { names.contains($0.name) })
    }

    /// - Parameter all: All apps of Larder.
    /// - Returns: The names of the apps that other processes serve, and of upstreams that only those apps use.
    func elsewhere(of all: AppList) -> (apps: Set<String>, upstreams: Set<String>) {
        let served = Set(apps.types.map { $0.name })
        let others = all.types.filter { !served.contains($0.name) }
        let used = Set(apps.upstreams.map(\.name))
        return (Set(others.map { $0.name }), Set(others.flatMap { $0.upstreams }.map(\.name)).subtracting(used))
    }
}

extension IndexRoutes.Web {
    /// - Throws: `SettingError` if the tiles are those of an upstream without an address.
    fileprivate init(_ settings: SettingValues, _ upstreams: ConfiguredUpstreams) throws(SettingError) {
        let (tiles, attribution) = (settings[ServerSettings.tiles], settings[ServerSettings.tilesAttribution])
        guard tiles.isEmpty || upstreams.byName[tiles] != nil else {
            throw .unacceptable(
                key: ServerSettings.tiles.key,
                value: tiles,
                source: "settings",
                accepted: "the name of an upstream with an address, upstreams.NAME.url"
            )
        }
        self.init(
            tiles: tiles.isEmpty ? nil : tiles,
            attribution: attribution.isEmpty ? nil : attribution,
            maxZoom: settings[ServerSettings.tilesMaxZoom],
            diskOAuth: !settings[DiskApp.oauthClientID].isEmpty
        )
    }
}

/// The programs for pictures and documents that were found, and the limits of their work.
struct MediaConfiguration: Sendable {
    var tools: MediaTools
    var limits: MediaLimits

    init(_ settings: SettingValues, environment: [String: String]) {
        tools = MediaTools.find(
            searchPath: environment["PATH"] ?? "",
            pdfWorker: settings[MediaSettings.worker],
            executable: Self.executable()
        )
        limits = MediaLimits()
        for limit in MediaSettings.limits { limit.apply(settings, &limits) }
    }

    /// Returns the path of the running executable, even if it was started by its bare name.
    private static func executable() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }
}
