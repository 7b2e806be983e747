import Foundation
import Freshness
import Screens

/// What the profiles of the Shop app have made: shopping lists, past searches and filters.
///
/// It is in the server's own database (``ShopStore``), or in one that several servers share (``SharedShop``). Each
/// operation is one transaction.
protocol ShopProfiles: Sendable {
    /// Returns a token that is valid until the list, the history or the settings of a profile change. Take it before
    /// reading.
    func changeToken(_ profile: String) -> ChangeToken

    // MARK: Lists

    /// Returns a part of the list of a profile, in its order. The products come without descriptions and pictures.
    func list(_ profile: String, _ page: PageRequest) async throws -> ShoppingList

    /// Returns a line with its whole product, and the revision of its list; nil if it is not on the list.
    func line(_ id: ListItemID, _ profile: String) async throws -> (item: ListItem, revision: Int)?

    /// Returns what reads the lines that have, or had, a product id, with whole products. It is called within the
    /// transaction that reads what else is shown; a shared store is read before.
    func linesReader(of productID: Int, _ profile: String) async throws -> () throws -> [ListItem]

    /// Returns what reads the lines that have products, and the number of all; a line whose id was another product's
    /// when it was added is left out. It is called within the transaction that reads the products; a shared store is
    /// read before.
    ///
    /// - Parameter ids: those of the products; nil if they are not known yet.
    func cartReader(_ profile: String, of ids: [Int]?) async throws -> ([Product]) throws -> CartLines

    /// Appends a product to a list unless it is on it. Of two concurrent additions of one product, the second finds it
    /// there.
    ///
    /// - Parameter page: the part of the list to return.
    /// - Throws: 412 `precondition-failed`.
    func add(
        _ product: Product,
        quantity: Int,
        to profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (ShopStore.Addition, ShoppingList)

    /// Changes the quantity of a line.
    ///
    /// - Throws: 412 `precondition-failed`.
    func change(
        _ quantity: QuantityChange,
        of id: ListItemID,
        _ profile: String,
        if preconditions: WritePreconditions,
        showing page: PageRequest
    ) async throws -> (ShopStore.QuantityOutcome, ShoppingList)

    /// Removes a line from the list; false if it is not on it.
    ///
    /// - Throws: 412 `precondition-failed`.
    func remove(_ id: ListItemID, _ profile: String, if preconditions: WritePreconditions, showing page: PageRequest)
        async throws -> (Bool, ShoppingList)

    /// Empties the list; false if it was empty.
    ///
    /// - Throws: 412 `precondition-failed`.
    func clear(_ profile: String, if preconditions: WritePreconditions, showing page: PageRequest) async throws
        -> (Bool, ShoppingList)

    /// Reorders the list; false unless the order names every line once.
    ///
    /// - Throws: 412 `precondition-failed`.
    func order(_ order: ListOrder, _ profile: String, if preconditions: WritePreconditions, showing page: PageRequest)
        async throws -> (Bool, ShoppingList)

    /// Returns the ids of the products on all lists that the upstream is not known to miss, in order, without those
    /// that it has.
    func listedProducts(without present: Set<Int>) async throws -> [Int]

    // MARK: Searches

    /// Returns what tells whether a search is the profile's last one, and if it has a text, the newest of its history.
    /// It is called within the transaction that reads what is found; a shared store is read before.
    func lastSearchReader(_ query: SearchQuery, _ profile: String) async throws -> () throws -> Bool

    /// Records a search as the profile's last one, and if it has a text, in its history. Nothing is written if it is
    /// the last one already, or if the disk is full.
    func record(_ query: SearchQuery, _ profile: String, at now: Date) async throws

    /// Returns the last search and the history of a profile, of one state.
    func searches(of profile: String) async throws -> ProfileSearches

    /// Replaces the filters of the last search; its text stays.
    ///
    /// - Throws: 412 `precondition-failed`.
    func setFilters(_ filters: SearchFilters, _ profile: String, if preconditions: WritePreconditions) async throws
        -> ProfileSearches

    /// Removes text and filters of the last search.
    ///
    /// - Throws: 412 `precondition-failed`.
    func resetSettings(_ profile: String, if preconditions: WritePreconditions) async throws -> ProfileSearches

    /// Removes the history of a profile.
    ///
    /// - Throws: 412 `precondition-failed`.
    func clearHistory(_ profile: String, if preconditions: WritePreconditions) async throws -> ProfileSearches

    /// Removes one search from the history of a profile.
    ///
    /// - Parameter index: 0 for the newest search.
    /// - Returns: nil if there is no such search.
    /// - Throws: 412 `precondition-failed`.
    func removePastSearch(_ index: Int, _ profile: String, if preconditions: WritePreconditions) async throws
        -> ProfileSearches?
}
