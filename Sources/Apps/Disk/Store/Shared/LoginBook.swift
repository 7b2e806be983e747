import Foundation
import Freshness
import Screens

/// What users have made in the Disk app by logging in: accounts, their logins with sealed tokens, logins that have
/// begun in a browser, and whether the onboarding was seen.
///
/// It is in the server's own database (``DiskStore``), or in one that several servers share (``SharedLogins``). Each
/// operation is one transaction there.
protocol LoginBook: Sendable {
    /// Brings what ``DiskStore`` has of an account and its logins up to date, before it is used. What is cached of an
    /// account that was logged out is removed.
    func catchUp(_ account: String) async throws

    /// Returns how long what is read of an account may be relied on. To be taken before it is read.
    func changeToken(account: String) -> ChangeToken

    /// Stores an account, and a session with a token of its own. Other sessions of the account keep theirs.
    ///
    /// - Returns: The account, and the token of the session.
    func link(
        _ session: Session,
        _ space: DiskSpace,
        _ token: DiskToken,
        for carrier: SessionCarrier,
        sessions: SessionStore
    ) async throws -> (account: DiskAccount?, token: String)

    /// Removes all data of an account: tokens, rows, lists, stored responses and bodies, jobs, sessions.
    ///
    /// - Returns: The tokens that its logins had.
    func logOut(_ account: String, sessions: SessionStore) async throws -> [DiskToken]

    /// Counts a change of an account's files that this server has made, before ``DiskStore`` learns of it.
    ///
    /// - Returns: The new epoch; nil if the account was logged out, or if ``DiskStore`` counts.
    func nextEpoch(of account: String) async throws -> Int64?

    /// Returns the token of a login; nil if it was logged out.
    func token(named name: String) async throws -> DiskToken?

    /// Replaces a token by the one that it is granted for, once: who asks for the same meanwhile gets that one, too.
    ///
    /// - Parameter grant: Requests the new token. It is called at most once.
    /// - Returns: The new token; nil if the account was logged out meanwhile.
    /// - Throws: What `grant` throws.
    func refresh(_ old: DiskToken, named name: String, _ grant: @Sendable () async throws -> DiskToken) async throws
        -> DiskToken?

    /// Records whether the API refuses the token of a login. Other logins of the account are not affected.
    func setRejected(_ isRejected: Bool, of account: DiskAccount) async throws

    /// Stores the verifier of a login that begins in a browser.
    func beginAuthorization(state: String, verifier: String, at now: Date) async throws

    /// Returns the verifier of a login that has begun, once; nil if the state is unknown, expired or used.
    func endAuthorization(state: String, at now: Date) async throws -> String?

    /// Whether the onboarding was seen to its end on this installation.
    func isOnboardingSeen() async throws -> Bool

    func setOnboardingSeen(_ isSeen: Bool) async throws
}

extension DiskStore: LoginBook {
    func catchUp(_ account: String) {}

    func nextEpoch(of account: String) -> Int64? { nil }

    func logOut(_ account: String, sessions: SessionStore) async throws -> [DiskToken] {
        let tokens = try tokens(of: account)
        try await wipe(account, sessions: sessions)
        return tokens
    }

    func refresh(_ old: DiskToken, named name: String, _ grant: @Sendable () async throws -> DiskToken) async throws
        -> DiskToken?
    {
        // Another request may have refreshed it already.
        if let present = try token(named: name), present != old { return present }
        let fresh = try await grant()
        return try await replace(old, by: fresh, named: name) ? fresh : nil
    }
}
