import Cluster
import Concurrency
import GRDB
import HTTP
import Logging
import Media
import Screens
import ServiceLifecycle
import Storage
import Upstream

/// Builds the features of the app, each with only the parts that it needs.
struct DiskComposition: Sendable {
    let store: DiskStore
    let tokens: TokenProvider
    let queue: DownloadQueue
    let keeper: OfflineKeeper
    let outboxKeeper: OutboxKeeper
    let background = BackgroundTasks()
    let writer: WriteExecutor
    private let client: YandexDiskClient
    private let oauth: YandexOAuthClient?
    private let sessions: SessionStore
    private let settings: SettingValues
    private let budget: CacheBudget
    private let accessRecorder: AccessRecorder
    private let media: MediaEngine?
    private let scratch: ScratchFolder
    private let clock: WallClock
    private let logger: Logger
    private let accounts: DiskAccounts
    let items: ItemReader
    private let tracker: OperationTracker
    private let load = ForegroundLoad()

    /// Builds the parts that several features use.
    ///
    /// - Throws: `StorageError` if the key of the sealed secrets cannot be read.
    init(
        upstream: Upstream,
        oauth: YandexOAuthClient?,
        database: LarderDatabase,
        users: UserDatabase?,
        seal: SharedSeal?,
        sessions: SessionStore,
        events: DiskEvents,
        settings: SettingValues,
        budget: CacheBudget,
        accessRecorder: AccessRecorder,
        media: MediaEngine?,
        scratch: ScratchFolder,
        clock: WallClock,
        logger: Logger
    ) throws {
        let secrets = try SealedSecrets(database)
        client = YandexDiskClient(
            upstream: upstream,
            freshness: settings[DiskApp.freshness],
            searchFreshness: settings[DiskApp.searchFreshness],
            hasher: try secrets.credentialHasher()
        )
        store = DiskStore(
            database,
            users: users,
            secrets: seal?.userSecrets ?? UserSecrets(secrets),
            settings: settings,
            clock: clock,
            events: events
        ) { [client] in client.credential(of: $0) }
        tokens = TokenProvider(store: store, oauth: oauth, clock: clock)
        queue = DownloadQueue(store: store, events: events, limit: settings[DiskApp.downloads], logger: logger)
        (self.oauth, self.sessions, self.settings, self.budget) = (oauth, sessions, settings, budget)
        (self.accessRecorder, self.media, self.scratch) = (accessRecorder, media, scratch)
        (self.clock, self.logger) = (clock, logger)
        let reader = ResourceReader(client: client, tokens: tokens, store: store, load: load)
        accounts = DiskAccounts(store: store, reader: reader)
        items = ItemReader(reader: reader, clock: clock)
        let uploads = LateUploads()
        tracker = OperationTracker(
            client: client,
            tokens: tokens,
            uploads: uploads,
            wait: settings[DiskApp.operationWait],
            clock: clock,
            logger: logger
        )
        writer = WriteExecutor(
            calls: WriteCalls(
                client: client,
                tokens: tokens,
                store: store,
                uploads: uploads,
                uploadResponse: settings[DiskApp.uploadResponse]
            ),
            items: items,
            operations: tracker,
            background: background,
            clock: clock,
            logger: logger
        )
        keeper = OfflineKeeper(
            accounts,
            items,
            settings: settings,
            budget: budget,
            accessRecorder: accessRecorder,
            announcer: ChangeAnnouncer(background: background, clock: clock) { [store] account in
                // An account that was logged out has no listeners.
                guard let revision = try? store.revision(of: account) else { return }
                events.screenChanged("disk.offline", revision, account: account)
            },
            clock: clock,
            logger: logger
        )
        outboxKeeper = OutboxKeeper(
            runner: OutboxRunner(accounts: accounts, writer: writer),
            announcer: ChangeAnnouncer(background: background, clock: clock) { [store] account in
                events.outboxChanged(store.pendingWrites(of: account)?.count ?? 0, account: account)
            },
            clock: clock,
            logger: logger
        )
        // The store keeps this closure, and they keep the store.
        let ended = { @Sendable [weak queue, weak keeper, weak outboxKeeper] (account: String) in
            queue?.cancel(account: account)
            keeper?.cancel(account: account)
            outboxKeeper?.cancel(account: account)
        }
        store.forgotten.listen(ended)
        sessions.letExpire(
            sessionsOf: DiskApp.name,
            { [store] expired, db in
                guard try store.remove(expired, db) else { return }
                db.afterNextTransaction { _ in ended(expired.account) }
            },
            shared: { [store] expired in try await store.remove(expired) }
        )
        store.listen { error in
            // The cached data of the account is updated before its next use, or at the next start.
            logger.warning("an account of other servers could not be followed", metadata: ["error": "\(error)"])
        }
        let now = store.users.isShared ? nil : clock.now()
        try database.read { [store] in try store.outbox.load(at: now, $0) }
    }

    private var pageReader: PageReader {
        PageReader(reader: accounts.reader, accessRecorder: accessRecorder, clock: clock)
    }

    private var storedFiles: StoredFiles {
        StoredFiles(
            store: store,
            accessRecorder: accessRecorder,
            budget: budget,
            clock: clock
        )
    }

    private var fetcher: FileFetcher {
        FileFetcher(client: client, tokens: tokens, files: storedFiles, load: load, logger: logger)
    }

    private var fileResponses: FileResponses {
        FileResponses(timeZone: settings[DiskApp.timeZone], media: media, store: store, clock: clock)
    }

    private var writeResponses: WriteResponses { WriteResponses(files: fileResponses, clock: clock) }

    /// Files and folders as they will be.
    private var projected: ProjectedItems { ProjectedItems(items: items) }

    private var runner: DownloadRunner {
        DownloadRunner(accounts: accounts, items: items, fetcher: fetcher, clock: clock)
    }

    var lender: FileLender { FileLender(files: storedFiles, fetcher: fetcher, scratch: scratch) }
}

// The features.
extension DiskComposition {
    var onboarding: Onboarding { Onboarding(store: store) }

    var login: Sessions {
        Sessions(
            client: client,
            oauth: oauth,
            accounts: accounts,
            sessions: sessions,
            queue: queue,
            keeper: keeper,
            outbox: outboxKeeper,
            background: background,
            clock: clock,
            logger: logger
        )
    }

    var profile: Profile { Profile(accounts: accounts, clock: clock) }

    var listing: Listing {
        Listing(accounts: accounts, pages: pageReader, timeZone: settings[DiskApp.timeZone], clock: clock)
    }

    var search: Search {
        Search(accounts: accounts, pages: pageReader, timeZone: settings[DiskApp.timeZone], clock: clock)
    }

    var trash: Trash {
        Trash(
            accounts: accounts,
            pages: pageReader,
            writer: writer,
            responses: writeResponses,
            clock: clock
        )
    }

    var files: Files { Files(accounts: accounts, items: projected, responses: fileResponses) }

    var content: Content {
        Content(accounts: accounts, items: projected, files: storedFiles, fetcher: fetcher, clock: clock)
    }

    var previews: Previews {
        Previews(
            accounts: accounts,
            items: projected,
            pictures: QueuedPictures(lender: lender, media: media, clock: clock),
            files: storedFiles,
            client: client,
            tokens: tokens,
            clock: clock,
            reads: PictureReads(of: client.upstream)
        )
    }

    var pages: Pages {
        Pages(accounts: accounts, items: projected, files: storedFiles, lender: lender, media: media, clock: clock)
    }

    var downloads: Downloads {
        Downloads(
            accounts: accounts,
            items: items,
            files: storedFiles,
            runner: runner,
            queue: queue,
            clock: clock
        )
    }

    var offline: Offline {
        Offline(
            accounts: accounts,
            items: items,
            keeper: keeper,
            settings: settings,
            clock: clock
        )
    }

    private var writeQueue: WriteQueue { WriteQueue(writer: writer, clock: clock) }

    var writes: Writes { Writes(accounts: accounts, queue: writeQueue, responses: writeResponses) }

    var sharing: Sharing { Sharing(accounts: accounts, queue: writeQueue, responses: writeResponses, clock: clock) }

    var outbox: OutboxRequests {
        OutboxRequests(
            accounts: accounts,
            keeper: outboxKeeper,
            timeZone: settings[DiskApp.timeZone],
            clock: clock
        )
    }

    var operations: Operations { Operations(accounts: accounts, tracker: tracker, responses: writeResponses) }

    var services: [any Service] {
        [
            downloadService, OfflineService(keeper: keeper),
            OutboxService(keeper: outboxKeeper, store: store, clock: clock, logger: logger),
            BackgroundService(background: background),
        ]
    }

    var downloadService: DownloadService {
        DownloadService(store: store, queue: queue, runner: runner, clock: clock, logger: logger)
    }

    /// Files for other apps.
    var diskFiles: DiskFiles {
        DiskFiles(accounts: accounts, items: projected, files: storedFiles, fetcher: fetcher, writer: writer)
    }
}
