import Cluster
import Concurrency
import GRDB
import Screens
import Storage
import Synchronization
import Upstream

/// Accounts, their known files and folders, downloads and operations.
///
/// A file or folder is one row, keyed by account and path; lists refer to rows (`PageStore`, account `disk/<uid>`).
/// Bodies are stored responses with URLs of their own (``bodies``). The data of an account changes in one transaction,
/// and is removed in one. Of several servers, the rows of users (``users``) change first. Then the data that each
/// server has by itself follows them (``follow(_:entering:)``).
struct DiskStore: Sendable {
    /// Name of the app in paths, sessions and events.
    static let app = "disk"

    static let migrations: [SchemaMigration] = [
        SchemaMigration(
            "disk/001 disk",
            sql: """
                CREATE TABLE disk_installation (
                    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
                    onboarding_seen INTEGER NOT NULL
                ) STRICT;
                INSERT INTO disk_installation (one, onboarding_seen) VALUES (1, 0);

                CREATE TABLE disk_account (
                    account TEXT NOT NULL PRIMARY KEY, -- uid at Yandex
                    name TEXT, -- login there
                    linked_at INTEGER NOT NULL, -- milliseconds since 1970 UTC, as all times
                    total INTEGER NOT NULL, -- bytes, as the next two
                    used INTEGER NOT NULL,
                    trash INTEGER NOT NULL,
                    epoch INTEGER NOT NULL, -- random at first, one more with every change made through Larder
                    revision INTEGER NOT NULL, -- one more with every change of what screens show
                    rejected INTEGER NOT NULL -- 1: the upstream refused its token
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE disk_item (
                    account TEXT NOT NULL,
                    path TEXT NOT NULL,
                    name TEXT NOT NULL,
                    folded TEXT NOT NULL, -- the name as searches compare it
                    kind TEXT NOT NULL CHECK (kind IN ('file', 'dir')),
                    size INTEGER,
                    created INTEGER,
                    modified INTEGER,
                    media_type TEXT,
                    mime_type TEXT,
                    md5 TEXT,
                    resource_id TEXT,
                    public_url TEXT,
                    published INTEGER NOT NULL,
                    origin TEXT,
                    deleted INTEGER,
                    seen_at INTEGER NOT NULL, -- when the upstream last listed it
                    PRIMARY KEY (account, path)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE disk_download (
                    id TEXT NOT NULL PRIMARY KEY,
                    account TEXT NOT NULL,
                    path TEXT NOT NULL,
                    version TEXT NOT NULL,
                    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
                    bytes_done INTEGER NOT NULL,
                    bytes_total INTEGER NOT NULL,
                    failure TEXT,
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX disk_download_by_file ON disk_download (account, path, version);

                CREATE TABLE disk_operation (
                    id TEXT NOT NULL PRIMARY KEY,
                    account TEXT NOT NULL,
                    upstream_id TEXT NOT NULL,
                    action TEXT NOT NULL,
                    path TEXT NOT NULL,
                    target TEXT,
                    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed')),
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX disk_operation_by_account ON disk_operation (account);

                CREATE TABLE disk_authorization (
                    state TEXT NOT NULL PRIMARY KEY, -- hash of it
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """
        ),
        SchemaMigration(
            "disk/002 logins",
            sql: """
                CREATE TABLE disk_login (
                    session TEXT NOT NULL PRIMARY KEY, -- identity of the session
                    account TEXT NOT NULL,
                    token TEXT NOT NULL, -- name of the sealed token; sessions of an earlier version share one
                    rejected INTEGER NOT NULL, -- 1: the upstream refused the token
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX disk_login_by_account ON disk_login (account, rejected, created_at);
                CREATE INDEX disk_login_by_token ON disk_login (token);
                INSERT INTO disk_login (session, account, token, rejected, created_at)
                    SELECT hex(session.token_hash), session.account, 'disk/token/' || session.account,
                        disk_account.rejected, session.created_at
                    FROM session JOIN disk_account ON disk_account.account = session.account
                    WHERE session.app = 'disk';
                ALTER TABLE disk_account DROP COLUMN rejected;
                """
        ),
        SchemaMigration("disk/003 names", migrate: indexNames),
        offlineMigration,
        SchemaMigration("disk/005 flags", migrate: joinFlags),
        outboxMigration,
        searchMigration,
        SchemaMigration(
            "disk/008 link ends",
            sql: """
                ALTER TABLE disk_item ADD COLUMN available_until INTEGER; -- of its link; 0: no end; NULL: not known
                """
        ),
        SchemaMigration(
            "disk/009 changes",
            sql: """
                -- When the content of the row, or of any file of the account, was received.
                ALTER TABLE disk_item ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE disk_account ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
                UPDATE disk_item SET changed_at = seen_at;
                """
        ),
        SchemaMigration("disk/010 outbox states", migrate: outboxJournal.renew),
        SchemaMigration("disk/011 rows of users", sql: separation),
        SchemaMigration("disk/012 outbox of servers", migrate: outboxJournal.renew),
        SchemaMigration("disk/013 words", migrate: enterWords),
    ]

    /// Name of the upstream that bodies, small pictures and pages of files are stored under.
    static let bodies = "yandex_disk.files"

    let database: LarderDatabase
    /// Accounts, logins and marks, which servers replicate (``replicated``).
    let users: UserDatabase
    let secrets: UserSecrets
    let clock: WallClock
    let responses: ResponseStore
    let pages = PageStore()
    /// The latest changes, for responses that were requested before them.
    let changeLogs = DiskChangeLogs()
    /// The accounts that keep files offline.
    let offlineSignal = OfflineSignal()
    /// The writes that wait for the API.
    let outbox = Outbox<QueuedWrite>(outboxJournal)
    let settings: SettingValues
    /// Notifies listeners of changes that reads have found; nil for a store without listeners.
    let events: DiskEvents?
    /// Notifies of accounts that were logged out, here or by another server: work under way for them ends.
    let forgotten = Signal<String>()
    /// The accounts whose writes this server sends.
    let senders = OutboxSenders()
    /// By account: changes are applied to this server's cached data one after the other.
    let locks = KeyedMutex()
    private let stamps = VersionCounters()
    private let credential: @Sendable (String) -> CredentialHash

    /// Creates the store of one database.
    ///
    /// - Parameters:
    ///   - users: nil for a server by itself.
    ///   - credential: Turns an account into a key of the store, so that responses and bodies of an account are
    ///     removed together.
    init(
        _ database: LarderDatabase,
        users: UserDatabase? = nil,
        secrets: UserSecrets,
        settings: SettingValues = SettingValues(),
        clock: WallClock,
        events: DiskEvents? = nil,
        credential: @escaping @Sendable (_ account: String) -> CredentialHash
    ) {
        self.database = database
        self.users = users ?? UserDatabase(database)
        self.secrets = secrets
        self.settings = settings
        self.clock = clock
        self.events = events
        self.credential = credential
        responses = ResponseStore(database)
    }

    /// Returns a token that is valid until the data of an account changes. Take it before ``catchUp(_:)``.
    func changeToken(account: String) -> ChangeToken {
        let topic = ServerEvent.Audience.account(app: Self.app, account: account).topic
        return ChangeToken(of: stamps[account]).and(users.changeToken(of: topic))
    }

    func credential(of account: String) -> CredentialHash { credential(account) }

    /// Marks the data of an account as changed after the transaction has been committed.
    func bump(_ account: String, after db: Database) {
        db.afterNextTransaction { [stamps] _ in stamps[account].bump() }
    }

    /// Counts a change of the screens of an account, and notifies their listeners after the transaction has been
    /// committed.
    ///
    /// - Returns: The revision in the notification.
    @discardableResult
    func notify(_ screens: some Collection<String> & Sendable, account: String, after db: Database) throws -> Int {
        // That of lists counts their changes only.
        let isCounted = !screens.allSatisfy(DiskEvents.withoutRevision.contains)
        let revision = try isCounted ? Self.nextRevision(account, db) : Self.revision(of: account, db) ?? 0
        db.afterNextTransaction { [events] _ in
            for screen in screens { events?.screenChanged(screen, revision, account: account) }
        }
        return revision
    }

    /// Marks the screens of an account as changed.
    func bump(_ account: String) { stamps[account].bump() }

    /// Records that the API has reported a change that could not be stored. Until one is stored, no stored data of the
    /// account is served without a request.
    func markDirty(_ account: String) {
        changeLogs.markDirty(account)
        stamps[account].bump()
    }

    /// Whether the stored data of an account misses a change.
    func isDirty(_ account: String) -> Bool { changeLogs.isDirty(account) }

    /// Name of an account in the tables that apps share.
    static func owner(_ account: String) -> String { "disk/\(account)" }
}

extension DiskStore {
    /// Whether the onboarding was seen to its end on this installation.
    func isOnboardingSeen() async throws -> Bool {
        _ = try await users.catchUp()
        return try users.read { try Bool.fetchOne($0, sql: "SELECT onboarding_seen FROM disk_installation") ?? false }
    }

    func setOnboardingSeen(_ isSeen: Bool) async throws {
        let sql = """
            INSERT INTO disk_installation (one, onboarding_seen) VALUES (1, ?)
            ON CONFLICT (one) DO UPDATE SET onboarding_seen = excluded.onboarding_seen
            """
        try await users.write(scope: "disk/onboarding") { try $0.execute(sql: sql, arguments: [isSeen]) }
    }
}

/// Notifies the listener that was registered last.
final class Signal<Value: Sendable>: Sendable {
    /// A function that is itself the value of a mutex is wrapped once more by each access to it.
    private struct State {
        var listener: (@Sendable (Value) -> Void)?
    }

    private let state = Mutex(State())

    func listen(_ listener: @escaping @Sendable (Value) -> Void) { state.withLock { $0.listener = listener } }

    func send(_ value: Value) { state.withLock { $0.listener }?(value) }

    /// Notifies the listener after the transaction has been committed.
    func send(_ value: Value, after db: Database) { db.afterNextTransaction { [self] _ in send(value) } }
}
