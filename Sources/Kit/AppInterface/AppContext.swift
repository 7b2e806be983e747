package import Database
package import Freshness
package import Logging
package import Media
package import ResponseStore
package import Screens
package import Settings
package import Upstream

/// What the server offers to one app.
package struct AppContext: Sendable {
    /// The values of the app's own settings.
    package let settings: SettingValues
    /// The database, with the tables of the app.
    package let database: LarderDatabase
    /// The store that several servers share, with the shared tables of the app; nil if users' data is in the database.
    package let shared: SharedStoreAccess?
    /// The sessions of all apps.
    package let sessions: SessionStore
    /// The event stream.
    package let events: EventStream
    /// Work on pictures and documents.
    package let media: MediaEngine
    /// Files that live as long as a request.
    package let scratch: ScratchFolder
    /// Records the last use of what is stored.
    package let accessRecorder: AccessRecorder
    /// Size limit of everything that is cached.
    package let cacheBudget: CacheBudget
    /// The files of accounts of an earlier app in the list, if there are any.
    package let files: AccountFiles?
    /// The clock.
    package let clock: WallClock
    /// The clock by which the data of users expires.
    package let retention: RetentionClock
    /// The log.
    package let logger: Logger
    private let upstreams: [String: Upstream]

    /// Creates a context.
    /// - Parameter upstreams: the app's upstreams that have an address, by name
    package init(
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
    package func upstream(_ description: UpstreamDescription) throws(MissingUpstream) -> Upstream {
        guard let upstream = upstreams[description.name] else { throw MissingUpstream(name: description.name) }
        return upstream
    }

    /// The app's upstream of a description; nil if it has no address.
    package func optionalUpstream(_ description: UpstreamDescription) -> Upstream? { upstreams[description.name] }
}

/// An app has requested an upstream that it does not list, or that has no address.
package struct MissingUpstream: Error, CustomStringConvertible {
    /// Its name.
    package let name: String

    /// One line for people.
    package var description: String { "upstream \(name) has no address, or the app does not list it" }
}
