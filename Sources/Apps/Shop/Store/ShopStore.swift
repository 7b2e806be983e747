import Cluster
import Concurrency
import GRDB
import Screens
import Storage

/// The tables of the Shop app. Each server has its own products and categories that were seen. Several servers share
/// the list, searches and settings of each profile.
///
/// One table of products feeds search, card and list, so that they cannot disagree.
struct ShopStore: Sendable {
    /// A change of products that were shown, after its commit: by whatever read, for whichever client.
    enum Change: Sendable {
        /// Products are other ones than before.
        case products
        /// A list shows other products, at a new revision.
        case list(_ key: String, revision: Int)
    }

    /// The name of the app, as in the audiences of its events.
    static let app = "shop"

    /// The tables that several servers replicate. A list has copies of its products.
    static let replicated = JournalTables(replicated: userTables)
    private static let userTables = ["shop_profile", "shop_list_item", "shop_history"]

    let database: LarderDatabase
    let users: UserDatabase
    /// Renews lists of several servers.
    let renewals = BackgroundTasks()
    /// Bumped when any product changes: a search may find another one then.
    let catalogueChanges = VersionCounter()
    /// Bumped when the categories change.
    let categoryChanges = VersionCounter()
    /// Bumped when a product changes, by id.
    let productChanges = VersionCounters()
    /// Bumped when a list, a history or settings change, or a product on the list, by profile (``ListKind/key(_:)``).
    let profileChanges = VersionCounters()

    let changed: @Sendable (Change) -> Void

    /// - Parameters:
    ///   - users: The rows of profiles in the same file; nil for those of a server by itself.
    ///   - changed: Called when products that were shown before have changed.
    init(
        _ database: LarderDatabase,
        _ users: UserDatabase? = nil,
        changed: @escaping @Sendable (Change) -> Void = { _ in }
    ) {
        (self.database, self.users, self.changed) = (database, users ?? UserDatabase(database), changed)
        for table in Self.userTables {
            self.users.onChange(of: table) { [profileChanges] keys in
                let profiles = Set(keys.compactMap { key in key.first.flatMap { String.fromDatabaseValue($0) } })
                for profile in profiles { profileChanges[profile].bump() }
            }
        }
    }

    /// The rows of a profile: its writes run one after the other, on all servers.
    static func scope(_ profile: String) -> String { "shop/\(profile)" }

    /// Returns a token that is valid until the list, the history or the settings of a profile change. Take it before
    /// ``UserDatabase/catchUp()``.
    func changeToken(_ profile: String) -> ChangeToken {
        let topic = ServerEvent.Audience.profile(app: Self.app, profile: ListKind.read(profile).profile).topic
        return ChangeToken(of: profileChanges[profile]).and(users.changeToken(of: topic))
    }

    /// Applies changes of other servers, before a request reads the rows of a profile.
    ///
    /// - Returns: How old the rows may be if PostgreSQL does not respond, and a token that is valid until they change,
    ///   nil meanwhile.
    func catchUp(_ profile: String) async throws -> (lag: UserDatabase.Lag?, changeToken: ChangeToken?) {
        let changeToken = changeToken(profile)
        let lag = try await users.catchUp()
        return (lag, lag == nil ? changeToken : nil)
    }

    /// Returns a token that is valid until one of these products changes. Take it before reading.
    func changeToken(products ids: [Int]) -> ChangeToken {
        ids.reduce(.unlimited) { $0.and(ChangeToken(of: productChanges[$1])) }
    }
}
