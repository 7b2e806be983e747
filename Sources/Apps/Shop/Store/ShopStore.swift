import Database
import Freshness
import ResponseStore
import Synchronization
import Upstream

/// Who is notified of changes of products that were shown: by whatever read, for whichever client.
final class ProductListener: Sendable {
    /// - Parameter lists: The new revisions of the lists that show the products, by profile.
    typealias Changed = @Sendable (_ lists: [String: Int]) -> Void

    private let listener = Mutex<Changed?>(nil)

    func listen(_ changed: @escaping Changed) { listener.withLock { $0 = changed } }

    func changed(_ lists: [String: Int]) { listener.withLock { $0 }?(lists) }
}

/// The tables of the Shop app: the products and categories that were seen, and the list, searches and settings of each
/// profile.
///
/// One table of products feeds search, card and list, so that they cannot disagree.
struct ShopStore: Sendable {
    /// The name of the app, as in the audiences of its events.
    static let app = "shop"

    let database: LarderDatabase
    /// Bumped when any product changes: a search may find another one then.
    let catalogueChanges = VersionCounter()
    /// Bumped when the categories change.
    let categoryChanges = VersionCounter()
    /// Notified of changes of what was shown of products.
    let productListener = ProductListener()
    /// Bumped when a product changes, by id.
    let productChanges = VersionCounters()
    /// Bumped when a list, a history or settings change, or a product on the list, by profile.
    let profileChanges = VersionCounters()

    init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Returns a token that is valid until the list, the history or the settings of a profile change. Take it before
    /// reading.
    func changeToken(_ profile: String) -> ChangeToken {
        ChangeToken(of: profileChanges[profile])
    }

    /// Returns a token that is valid until one of these products changes. Take it before reading.
    func changeToken(products ids: [Int]) -> ChangeToken {
        ids.reduce(.unlimited) { $0.and(ChangeToken(of: productChanges[$1])) }
    }
}
