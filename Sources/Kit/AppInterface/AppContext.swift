public import Database
public import Freshness
public import Logging
public import Media
public import ResponseStore
public import Screens
public import Settings
public import Upstream

/// What the server offers to one app.
public struct AppContext: Sendable {
    /// The values of the app's own settings.
    public let settings: SettingValues
    /// The database, with the tables of the app.
    public let database: LarderDatabase
    /// The store that several servers share, with the shared tables of the app; nil if users' data is in the database.
    public let shared: SharedStoreAccess?
    /// The sessions of all apps.
    public let sessions: SessionStore
    /// The event stream.
    public let events: EventStream
    /// Work on pictures and documents.
    public let media: MediaEngine
    /// Files that live as long as a request.
    public let scratch: ScratchFolder
    /// Records the last use of what is stored.
    public let accessRecorder: AccessRecorder
    /// Size limit of everything that is cached.
    public let cacheBudget: CacheBudget
    /// The files of accounts of an earlier app in the list, if there are any.
    public let files: AccountFiles?
    /// The clock.
    public let clock: WallClock
    /// The clock by which the data of users expires.
    public let retention: RetentionClock
    /// The log.
    public let logger: Logger
    private let upstreams: [String: Upstream]

    /// Creates a context.
    /// - Parameter upstreams: the app's upstreams that have an address, by name
    public init(
        settings: SettingValues,
        upstreams: [String: Upstream],
        database: LarderDatabase,
        shared: SharedStoreAccess? = nil,
        sessions: SessionStore,
        events: EventStream,
        media: MediaEngine,
        scratch: ScratchFolder,
        accessRecorder: AccessRecorder,
        cacheBudget: CacheBudget,
        files: AccountFiles?,
        clock: WallClock,
        retention: RetentionClock? = nil,
        logger: Logger
    ) {
        self.settings = settings
        self.upstreams = upstreams
        self.database = database
        self.shared = shared
        self.sessions = sessions
        self.events = events
        self.media = media
        self.scratch = scratch
        self.accessRecorder = accessRecorder
        self.cacheBudget = cacheBudget
        self.files = files
        self.clock = clock
        self.retention = retention ?? RetentionClock(trusting: clock, logger: logger)
        self.logger = logger
    }

    /// The app's upstream of a description.
    /// - Throws: ``MissingUpstream`` if it has no address; an app is not created without those that are not optional.
    public func upstream(_ description: UpstreamDescription) throws(MissingUpstream) -> Upstream {
        guard let upstream = upstreams[description.name] else { throw MissingUpstream(name: description.name) }
        return upstream
    }

    /// The app's upstream of a description; nil if it has no address.
    public func optionalUpstream(_ description: UpstreamDescription) -> Upstream? { upstreams[description.name] }
}

/// An app has requested an upstream that it does not list, or that has no address.
public struct MissingUpstream: Error, CustomStringConvertible {
    /// Its name.
    public let name: String

    /// One line for people.
    public var description: String { "upstream \(name) has no address, or the app does not list it" }
}
