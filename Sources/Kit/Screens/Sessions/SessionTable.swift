import Foundation

/// Where sessions are stored. Each function is one transaction.
///
/// What ends with a session of an app whose data is in the server's own database, ends in the same transaction.
protocol SessionTable: Sendable {
    /// Returns the session of a token; nil if it was not used since.
    func session(_ tokenHash: Data, usedSince oldest: Int64) async throws -> Session?

    /// Stores a session.
    func insert(_ session: Session, _ tokenHash: Data) async throws

    /// Ends a session.
    func remove(_ tokenHash: Data) async throws

    /// Writes when sessions were used, exact to the day.
    func storeUses(_ uses: [Data: Date]) async throws

    /// Ends sessions of an app that were not used since, with what belongs to them.
    ///
    /// - Returns: the hashes of their tokens; none if there are no more.
    func removeUnused(
        of app: String,
        since oldest: Int64,
        _ limit: Int,
        _ data: SessionStore.ExpiredData
    ) async throws -> [Data]

    /// Ends the sessions whose tokens a test has chosen.
    func removeSeeded() throws
}

extension SessionTable {
    /// Milliseconds within which further uses are not written.
    static var resolution: Int64 { 86_400_000 }
}
