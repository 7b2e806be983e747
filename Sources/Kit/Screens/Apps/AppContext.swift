package import Cluster
package import Concurrency
package import Logging
package import Media
package import Storage
package import Upstream

/// The parts of the server that one app uses.
package struct AppContext: Sendable {
    /// The values of the app's own settings.
    package var settings: SettingValues
    /// The database, with the tables of the app.
    package let database: LarderDatabase
    /// Seals secrets that several servers share; nil for a server by itself, and for one without a key.
    package let seal: ClusterSeal?
    /// The rows of users of apps whose tables are ``App/replicated``.
    package let users: UserDatabase
    package let sessions: SessionStore
    package let events: EventStream
    /// Work on pictures and documents.
    package var media: MediaEngine
    /// Files that live as long as a request.
    package let scratch: ScratchFolder
    /// Records the last use of stored responses.
    package let accessRecorder: AccessRecorder
    /// Size limit of everything that is cached.
    package var cacheBudget: CacheBudget
    /// The files of accounts of an earlier app in the list, if there are any.
    package let files: AccountFiles?
    package let clock: WallClock
    /// The clock by which the data of users expires.
    package let retention: RetentionClock
    package let logger: Logger
    private let upstreams: [String: Upstream]

    /// - Parameter upstreams: the app's upstreams that have an address, by name
    package init(
        settings: SettingValues,
        upstreams: [String: Upstream],
        database: LarderDatabase,
        seal: ClusterSeal? = nil,
        users: UserDatabase? = nil,
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
        self.seal = seal
        self.users = users ?? UserDatabase(database)
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

    /// Returns the app's upstream of a description.
    /// - Throws: `MissingUpstream` if it has no address; an app is not created without those that are not optional.
    package func upstream(_ description: UpstreamDescription) throws(MissingUpstream) -> Upstream {
        guard let upstream = upstreams[description.name] else { throw MissingUpstream(name: description.name) }
        return upstream
    }

    /// Returns the app's upstream of a description; nil if it has no address.
    package func optionalUpstream(_ description: UpstreamDescription) -> Upstream? { upstreams[description.name] }
}

/// An app has requested an upstream that it does not list, or that has no address.
package struct MissingUpstream: Error, CustomStringConvertible {
    let name: String

    package var description: String { "upstream \(name) has no address, or the app does not list it" }
}

/// An upstream as the app that uses it describes it: its address, its probe, and how its API is mounted. Operators may
/// change much of it by the settings `upstreams.{name}.*`, whose defaults these values are.
package struct UpstreamDescription: Sendable, Equatable {
    /// Name in settings, `/v1/status`, problems and the path of its mount.
    package let name: String
    package let title: String
    /// Base URL of its API; nil if there is no public one.
    package let url: String?
    /// Path that probes request, below the URL.
    package let probePath: String
    /// Hosts other than the URL's to which its links and redirects may point.
    package let allowedHosts: [String]
    /// The app's setting with hosts to which links and redirects may point whatever their addresses. With it, they may
    /// also point to any public host, for upstreams whose data names arbitrary hosts.
    package let trustedHosts: Setting<[String]>?
    /// Whether the app can work without it.
    package let isOptional: Bool
    /// Whether Larder logs in there for its accounts, so that its 401 ends a session.
    package let hasSessions: Bool
    /// Whether it limits requests by account, so that its 429 is about one account only.
    package let limitsByCredential: Bool
    /// Whether its mount responds to all clients alike. If not, credentials are passed on and everything is stored per
    /// credential.
    package let isShared: Bool
    /// Whether its mount stores bodies. It does not if they hold tokens.
    private let mayStoreBodies: Bool
    /// Whether its JSON has links that open files to every holder. Its mount rewrites them to its own addresses, unless
    /// it is shared: then it stores no bodies.
    package let leadsBack: Bool
    /// The OpenAPI document by which the sandbox simulates it; nil if the sandbox has a service of its name, or nothing
    /// is to be simulated.
    package let simulation: String?

    package init(
        _ name: String,
        title: String,
        url: String?,
        probePath: String = "/",
        allowedHosts: [String] = [],
        trustedHosts: Setting<[String]>? = nil,
        isOptional: Bool = false,
        hasSessions: Bool = false,
        limitsByCredential: Bool = false,
        isShared: Bool = true,
        storesBodies: Bool = true,
        leadsBack: Bool = false,
        simulation: String? = nil
    ) {
        self.name = name
        self.title = title
        self.url = url
        self.probePath = probePath
        self.allowedHosts = allowedHosts
        self.trustedHosts = trustedHosts
        self.isOptional = isOptional
        self.hasSessions = hasSessions
        self.limitsByCredential = limitsByCredential
        self.isShared = isShared
        mayStoreBodies = storesBodies
        self.leadsBack = leadsBack
        self.simulation = simulation
    }

    /// Whether its mount stores bodies, if it is shared or not.
    package func storesBodies(isShared: Bool) -> Bool { mayStoreBodies && !(leadsBack && isShared) }
}

/// Files of accounts by path, which one app offers to the others. Neither app knows the other.
package struct AccountFiles: Sendable {
    /// A file that was fetched.
    package struct Fetched: Sendable {
        /// Its name with its extension.
        package let name: String
        package let file: ScratchFile
        /// The first of them, at most ``AccountFiles/beginningBytes``.
        package let beginning: [UInt8]

        package init(name: String, file: ScratchFile, beginning: [UInt8]) {
            self.name = name
            self.file = file
            self.beginning = beginning
        }
    }

    /// Bytes of ``Fetched/beginning``: enough to recognise a format.
    package static let beginningBytes = 64

    /// Fetches a file to a folder. Throws a `Problem` or `UpstreamFailure` if that fails, 413 if the file is larger
    /// than `maximumBytes`.
    package typealias Fetch =
        @Sendable (_ path: String, _ session: Session, _ folder: ScratchFolder, _ maximumBytes: Int) async throws ->
        Fetched
    /// Stores a PDF at a free path and returns the path. Throws a `Problem` or `UpstreamFailure` if that
    /// fails, 409 `target-exists` if something is there.
    package typealias Store =
        @Sendable (_ path: String, _ session: Session, _ file: FileContent) async throws -> String

    /// Name of the app whose sessions have files.
    package let app: String
    package let fetch: Fetch
    package let store: Store

    package init(app: String, fetch: @escaping Fetch, store: @escaping Store) {
        self.app = app
        self.fetch = fetch
        self.store = store
    }
}
