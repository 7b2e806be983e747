import Database
import Freshness
import ResponseStore
import Upstream

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
