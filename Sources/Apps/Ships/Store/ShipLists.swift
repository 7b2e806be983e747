import Database
import Freshness
import GRDB
import Screens
import Upstream

/// The ships as accounts see them: what the API lists, and what each account has deleted and restored.
///
/// They are in the server's own database (``ShipStore``), or in one that several servers share (``SharedShips``): all
/// of them, so that revisions are those of one counter. Each operation is one transaction.
protocol ShipLists: Sendable {
    /// Returns a token that is valid until something changes that the account sees. Take it before reading.
    func changeToken(account: String) -> ChangeToken

    /// Returns how to read a page of the ships that an account sees, sorted by name.
    ///
    /// - Parameter since: the revision that changes are counted from; nil for the one before the current one.
    func listing(account: String, page: PageRequest, since: Int?) -> ShipReading<ShipPage>

    /// Returns how to read a ship as an account has it; nil if there is no such ship.
    func ship(_ id: String, account: String) -> ShipReading<ShipOfAccount?>

    /// Reads the list of ships from the API and takes it over; if that fails, the ships are left as they are.
    ///
    /// - Parameters:
    ///   - snapshot: taken over if there is no ship: the first start without an upstream.
    ///   - changed: called with each new revision after its commit.
    /// - Returns: the provenance of the ships, for the screens that show them.
    /// - Throws: `UpstreamFailure` if there is nothing to show.
    func refresh(
        from api: SpaceXAPI,
        _ cachePolicy: CachePolicy,
        else snapshot: ShipSnapshot,
        changed: @escaping @Sendable (_ revision: Int) -> Void
    ) async throws -> ReadResult

    /// Hides a ship from an account.
    ///
    /// - Parameter preconditions: compared with the revision of the ship.
    /// - Returns: nil if there is no such ship, or if it is already hidden.
    /// - Throws: 412 `precondition-failed`.
    func hide(_ id: String, account: String, if preconditions: WritePreconditions) async throws -> ShipPage.Counts?

    /// Restores hidden ships of an account.
    ///
    /// - Parameters:
    ///   - wanted: the ships to restore, nil for all; those that are not hidden are ignored.
    ///   - preconditions: compared with the revision of the list.
    /// - Returns: the ships that were restored.
    /// - Throws: 412 `precondition-failed`.
    func restore(_ wanted: [String]?, account: String, if preconditions: WritePreconditions) async throws
        -> (restored: [String], counts: ShipPage.Counts)

    /// The accounts that have hidden ships.
    func accountsWithHiddenShips() async throws -> [String]
}

/// How to read some of the ships.
enum ShipReading<Rows> {
    /// In the transaction that reads what is known of their age.
    case local(LarderDatabase, (Database) throws -> Rows)
    /// After what is known of their age was read, so that they are not older than it says. `isStored` is false if there
    /// never was a ship.
    case shared(() async throws -> (rows: Rows, isStored: Bool))

    /// Returns what reads them where their age does not matter. It is called within the transaction that reads what
    /// else is shown; a shared store is read before.
    func reader() async throws -> () throws -> Rows {
        switch self {
        case .local(let database, let rows): return { try database.read(rows) }
        case .shared(let read):
            let rows = try await read().rows
            return { rows }
        }
    }
}
