import Foundation
import Freshness
import Logging
import ResponseStore
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
    /// What several processes share; nil for a process that has all of its data itself.
    var store: StoreConfiguration?
    var http: HTTPConfiguration
    var dataDirectory: URL
    /// Whether data survives a loss of power.
    var isDurable = true
    /// Whether it is that of a space, of which no other server sees anything: what it shares with them it only reads.
    var isSpace = false
    /// Size limit of what is cached on disk.
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
    /// What other processes serve: names of apps, and of upstreams that only those apps use.
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
