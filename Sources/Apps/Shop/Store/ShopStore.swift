import Database
import Freshness
import ResponseStore
import Upstream

/// The tables of the Shop app: the products and categories that were seen, and the list, searches and settings of each
/// profile.
///
/// One table of products feeds search, card and list, so that they cannot disagree.
struct ShopStore: Sendable {
    let database: LarderDatabase
    /// Bumped when a product or a category changes.
    let catalogueChanges = VersionCounter()
    /// Bumped when a list, a history or settings change, by profile.
    let profileChanges = VersionCounters()

    init(_ database: LarderDatabase) {
        self.database = database
    }

    /// Returns a token that is valid until something changes that the profile sees. Take it before reading.
    func changeToken(_ profile: String) -> ChangeToken {
        ChangeToken(of: catalogueChanges, profileChanges[profile])
    }
}
