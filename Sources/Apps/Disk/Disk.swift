import Concurrency
import Foundation
import Logging
import Media
import Screens
import Storage
import Upstream

/// The parts of the app: features take them as one value.
struct Disk: Sendable {
    let store: DiskStore
    let client: YandexDiskClient
    /// Obtains tokens; nil if no application is configured: then clients can send tokens only.
    let oauth: YandexOAuthClient?
    var tokens: TokenProvider
    let events: DiskEvents
    let sessions: SessionStore
    let settings: SettingValues
    /// The size of the cache: a larger body is forwarded without being stored.
    let budget: CacheBudget
    let accessRecorder: AccessRecorder
    let media: MediaEngine
    /// Directory of the files that child processes read.
    let scratch: ScratchFolder
    let clock: WallClock
    let logger: Logger
    let load = ForegroundLoad()
    let uploads = LateUploads()
    /// Tasks that no request waits for.
    let background = BackgroundTasks()
    /// Serializes writes of one path.
    let writes = KeyedMutex()

    init(_ context: AppContext) throws {
        (sessions, settings, budget) = (context.sessions, context.settings, context.cacheBudget)
        (accessRecorder, media, scratch) = (context.accessRecorder, context.media, context.scratch)
        (clock, logger) = (context.clock, context.logger)
        events = DiskEvents(stream: context.events)
        let secrets = try SealedSecrets(context.database)
        let client = YandexDiskClient(
            upstream: try context.upstream(DiskApp.disk),
            freshness: settings[DiskApp.freshness],
            searchFreshness: settings[DiskApp.searchFreshness],
            hasher: try secrets.credentialHasher()
        )
        self.client = client
        let application = YandexOAuthClient.Application(settings)
        oauth = context.optionalUpstream(DiskApp.oauth).flatMap { upstream in
            application.map { YandexOAuthClient(upstream: upstream, application: $0) }
        }
        store = DiskStore(
            context.database,
            users: context.users,
            secrets: context.seal?.userSecrets ?? UserSecrets(secrets),
            settings: settings,
            clock: clock,
            events: events
        ) { client.credential(of: $0) }
        tokens = TokenProvider(store: store, oauth: oauth, clock: clock)
    }

    /// Time zone of texts if a request does not name one.
    var timeZone: TimeZone { settings[DiskApp.timeZone] }

    /// How long the response to an upload is waited for after its last byte.
    var uploadResponse: Duration { settings[DiskApp.uploadResponse] }

    var files: StoredFiles { StoredFiles(disk: self) }
    var fetcher: FileFetcher { FileFetcher(disk: self) }
    /// Files and folders after the pending writes.
    var pending: PendingItems { PendingItems(disk: self) }
}
