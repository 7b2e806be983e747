package import Database
import ResponseStore
package import Screens
package import ServiceLifecycle
package import Settings
package import SharedStore

/// One app of Larder, described by itself: the composition root lists the types and knows nothing else of them.
///
/// An app is served if all of its upstreams that are not optional have an address.
package protocol App: Sendable {
    /// Name in paths, settings and sessions: `ships` serves `/v1/ships/…`.
    static var name: String { get }
    /// Title in the index.
    static var title: Text { get }
    /// The language of the original app: that of responses to clients that name none. Default: English.
    static var language: Language { get }
    /// The upstreams that it uses. Default: none.
    static var upstreams: [UpstreamDescription] { get }
    /// Its settings, other than those of its upstreams. Default: none.
    static var settings: [Setting] { get }
    /// The steps that make its tables. Default: none.
    static var migrations: [SchemaMigration] { get }
    /// The steps that make its tables in a store that several servers share. Default: nil, for apps that keep users'
    /// data in the server's own database only.
    static var sharedMigrations: [SharedMigration]? { get }
    /// Whether it stores sealed secrets in such a store, so that the server needs a key for it. Default: no.
    static var sealsSharedSecrets: Bool { get }
    /// The tables of what users made, for copies from one store to the other, in an order in which rows can be
    /// inserted. Default: none.
    static var userTables: [UserTable] { get }
    /// The problem codes that are its own. Default: none.
    static var problems: [ProblemCode] { get }
    /// What it stores beside the cache, for reports to operators. Default: nothing.
    static var storedAmounts: [StoredAmount] { get }

    /// Returns what an operator may do with the app's accounts. Default: nil, for apps whose accounts have no
    /// passwords here.
    /// - Parameter store: where its users' data is; no server uses it if it is a server's own database.
    /// - Throws: `SettingError` if a setting cannot be read.
    static func accountAdministration(
        _ store: AccountStore,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)?

    /// Creates the app from what the server offers.
    /// - Throws: `SettingError` if settings contradict each other, `StorageError` if data cannot be used, and the
    ///   errors of bundled resources.
    init(_ context: AppContext) throws

    /// Its routes, in the order of openapi.yaml.
    var routes: [Route] { get }
    /// Brings what it has stored up to date, before the server accepts connections. Default: nothing.
    /// - Throws: `StorageError`, `SharedStoreError`; the server does not start then.
    func prepare() async throws
    /// What runs beside the server. Default: nothing.
    var services: [any Service] { get }
    /// Refreshes what the app's screens show after one of its upstreams has recovered, before clients are notified.
    /// Default: nothing.
    func upstreamRecovered(_ upstream: UpstreamDescription) async
    /// The files of its accounts, for later apps in the list. Default: none.
    var files: AccountFiles? { get }
    /// What it adds to the archive of a user's own data. Default: nothing.
    var userData: UserData? { get }
    /// What it takes of a document that fills a server under test. Default: nothing.
    var seeding: Seeding { get }
    /// The credentials of its accounts for the mounts of its upstreams, by the name of the upstream. Default: none.
    var mountCredentials: [String: MountRoutes.CredentialProvider] { get }
}

extension App {
    /// English.
    package static var language: Language { .english }
    /// No upstreams.
    package static var upstreams: [UpstreamDescription] { [] }
    /// No settings.
    package static var settings: [Setting] { [] }
    /// No tables.
    package static var migrations: [SchemaMigration] { [] }
    /// Keeps users' data in the server's own database only.
    package static var sharedMigrations: [SharedMigration]? { nil }
    /// No sealed secrets.
    package static var sealsSharedSecrets: Bool { false }
    /// No tables.
    package static var userTables: [UserTable] { [] }
    /// Stores nothing that is reported to operators.
    package static var storedAmounts: [StoredAmount] { [] }
    /// No problem codes of its own.
    package static var problems: [ProblemCode] { [] }
    /// No passwords.
    ///
    /// - Throws: Nothing.
    package static func accountAdministration(
        _ store: AccountStore,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)? {
        nil
    }
    /// Nothing to bring up to date.
    ///
    /// - Throws: Nothing.
    package func prepare() async throws {}
    /// No services.
    package var services: [any Service] { [] }
    /// Does nothing.
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {}
    /// No files.
    package var files: AccountFiles? { nil }
    /// Adds nothing.
    package var userData: UserData? { nil }
    /// Takes nothing.
    package var seeding: Seeding { Seeding() }
    /// No credentials.
    package var mountCredentials: [String: MountRoutes.CredentialProvider] { [:] }
}
