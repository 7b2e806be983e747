import CContract
package import Cluster
package import GRDB
package import ServiceLifecycle
package import Storage
package import Upstream

/// An app of Larder. The composition root lists the types of apps and knows nothing else of them.
///
/// An app is served if all of its upstreams that are not optional have an address.
package protocol App: Sendable {
    /// Name in paths, settings and sessions: `ships` serves `/v1/ships/…`.
    static var name: String { get }
    static var title: Text { get }
    /// The language of the original app: that of responses to clients that name none. Default: English.
    static var language: Language { get }
    /// Its screens: titles, tabs, and the members that people see. Default: none.
    static var screens: [ScreenForm] { get }
    /// The upstreams that it uses. Default: none.
    static var upstreams: [UpstreamDescription] { get }
    /// Its settings, other than those of its upstreams. Default: none.
    static var settings: [any SettingDeclaration] { get }
    /// The steps that make its tables. Default: none.
    static var migrations: [SchemaMigration] { get }
    /// The tables of users' data that several servers replicate. Default: nil, for apps whose data one server has by
    /// itself.
    static var replicated: JournalTables? { get }
    /// Whether it seals secrets in the store of several servers, which needs a key on each server. Default: no.
    static var sealsSharedSecrets: Bool { get }
    /// The descriptions of its routes for the contract (docs/contract-source.md). Default: the text of an app of
    /// Larder; empty for others, whose routes are not in the contract.
    static var contract: String { get }
    /// The problem codes that are its own. Default: none.
    static var problems: [ProblemCode] { get }
    /// The amounts that it stores beside the cache, for reports to operators. Default: none.
    static var storedAmounts: [StoredAmount] { get }
    /// The tables whose rows `larder doctor` reads as the app does. Default: none.
    static var records: [RecordTable] { get }

    /// Returns the operations on the app's accounts for operators. Default: nil, for apps whose accounts have no
    /// passwords here.
    /// - Parameter users: the rows of users; no server uses the file.
    /// - Throws: `SettingError` if a setting cannot be read.
    static func accountAdministration(
        _ users: UserDatabase,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)?

    /// Its routes, in the order of openapi.yaml.
    static var routes: [AppRoute<Self>] { get }

    /// - Throws: `SettingError` if settings contradict each other, `StorageError` if data cannot be used, and the
    ///   errors of bundled resources.
    init(_ context: AppContext) throws

    /// Brings its stored data up to date, before the server accepts connections. Default: nothing.
    /// - Throws: `StorageError`, `ClusterError`; the server does not start then.
    func prepare() async throws
    /// Services beside the server. Default: none.
    var services: [any Service] { get }
    /// Refreshes the data of the app's screens after one of its upstreams has recovered, before clients are notified.
    /// Default: nothing.
    func upstreamRecovered(_ upstream: UpstreamDescription) async
    /// The files of its accounts, for later apps in the list. Default: none.
    var files: AccountFiles? { get }
    /// Its part of the archive of a user's own data. Default: none.
    var userData: UserData? { get }
    /// Its part of a document that fills a server under test. Default: none.
    var seeding: Seeding { get }
    /// The credentials of its accounts for the mounts of its upstreams, by the name of the upstream. Default: none.
    var mountCredentials: [String: MountRoutes.CredentialProvider] { get }
    /// The writes that wait for its upstreams, by their names, for operators. Default: none.
    var outboxLoads: [String: OutboxLoad] { get }
}

extension App {
    package static var language: Language { .english }
    package static var screens: [ScreenForm] { [] }
    package static var upstreams: [UpstreamDescription] { [] }
    package static var settings: [any SettingDeclaration] { [] }
    package static var migrations: [SchemaMigration] { [] }
    /// Keeps users' data in the server's own database only.
    package static var replicated: JournalTables? { nil }
    package static var sealsSharedSecrets: Bool { false }
    package static var storedAmounts: [StoredAmount] { [] }
    package static var records: [RecordTable] { [] }
    /// The text that is part of the program.
    package static var contract: String { EmbeddedContract.text(of: name) }
    package static var problems: [ProblemCode] { [] }
    package static func accountAdministration(
        _ users: UserDatabase,
        _ sessions: SessionStore,
        _ settings: SettingValues
    ) throws -> (any AccountAdministration)? {
        nil
    }
    package func prepare() async throws {}
    package var services: [any Service] { [] }
    package func upstreamRecovered(_ upstream: UpstreamDescription) async {}
    package var files: AccountFiles? { nil }
    package var userData: UserData? { nil }
    package var seeding: Seeding { Seeding() }
    package var mountCredentials: [String: MountRoutes.CredentialProvider] { [:] }
    package var outboxLoads: [String: OutboxLoad] { [:] }
}

/// The texts of contracts that are part of the program.
package enum EmbeddedContract {
    /// Returns the text of an app, of the `screens` of the server, or of its `web` pages; empty if there is none.
    package static func text(of name: String) -> String {
        larder_contract_text(name).map { String(cString: $0) } ?? ""
    }
}

/// An app's part of a document that fills a server under test (docs/harness.md, "Seeds").
package struct Seeding: Sendable {
    /// Reads one item of a member. Nothing is stored before all items of the document have been read.
    ///
    /// Throws a `Problem` whose pointers are those within the item.
    package typealias Item = @Sendable (_ fields: JSONFields) async throws -> SeedStep
    /// Reads an account, whose session has a token.
    package typealias Account = @Sendable (_ fields: JSONFields, _ token: String) async throws -> SeedStep

    /// The members of the document that are the app's, by name; each is a list of items.
    package let members: [String: Item]
    /// Reads an account of the app; nil if it has none.
    package let account: Account?

    package init(members: [String: Item] = [:], account: Account? = nil) {
        self.members = members
        self.account = account
    }
}

/// An item that was read.
package struct SeedStep: Sendable {
    /// Stores it, in the transaction of all items. Throws a `Problem` if it does not fit the stored data.
    package let store: @Sendable (Database) throws -> Void
    /// Called after the commit of the transaction.
    package let stored: @Sendable () -> Void
    /// Called if nothing was stored.
    package let discarded: @Sendable () -> Void

    package init(
        store: @escaping @Sendable (Database) throws -> Void,
        stored: @escaping @Sendable () -> Void = {},
        discarded: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.stored = stored
        self.discarded = discarded
    }
}

/// Operations for operators on the accounts of an app whose passwords Larder stores itself.
///
/// On a server by itself, it runs while the server is stopped. A store of several servers may be in use.
package protocol AccountAdministration: Sendable {
    /// Sets another password and ends all sessions of the account.
    ///
    /// - Parameters:
    ///   - userName: name of the account.
    ///   - password: the new password.
    /// - Throws: ``AccountAdministrationError``; `StorageError`.
    func resetPassword(of userName: String, to password: String) async throws
}

/// Why an account cannot be administered; the text is for the operator.
package enum AccountAdministrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The app has no account of this name.
    case unknownAccount(String)
    /// The text says why.
    case unacceptablePassword(String)

    package var description: String {
        switch self {
        case .unknownAccount(let name): "there is no account of the name \(name)"
        case .unacceptablePassword(let reason): "the password is not acceptable: \(reason)"
        }
    }
}

/// An amount of data that an app stores beside the cache, for operators.
package struct StoredAmount: Sendable, Equatable {
    /// The name of the data, for people.
    package let title: String
    /// A query of one number: bytes, or NULL for none.
    package let sql: String

    package init(_ title: String, sql: String) {
        self.title = title
        self.sql = sql
    }
}
