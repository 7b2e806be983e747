import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

/// Finds the account of a session.
struct DiskAccounts: Sendable {
    let store: DiskStore
    let reader: ResourceReader

    /// Returns the logged-in account of a session.
    ///
    /// Nothing stored is shown to a session whose token the API has refused: first the API has to accept it again.
    ///
    /// - Throws: 401 `session-expired` if it was logged out, 401 `upstream-session-expired` if its token is refused.
    func account(of session: Session) async throws -> DiskAccount {
        try await catchUp(session.account)
        guard let account = try store.account(session.account, session: session.id) else { throw Problem.loggedOut }
        return try await accepted(account)
    }

    /// Returns the logged-in account of a session with a value that is read in the same transaction.
    ///
    /// - Throws: Errors of ``account(of:)`` and of `value`.
    func account<Value>(of session: Session, with value: (DiskAccount) throws -> Value) async throws -> (
        DiskAccount, Value
    ) {
        try await catchUp(session.account)
        let read: (DiskAccount, Value)? = try store.database.read { _ in
            guard let account = try store.account(session.account, session: session.id) else {
                throw Problem.loggedOut
            }
            return account.login.isRejected ? nil : (account, try value(account))
        }
        if let read { return read }
        let account = try await account(of: session)
        return (account, try store.database.read { _ in try value(account) })
    }

    /// Returns a logged-in account for work that belongs to no session, with a token that the API accepts if there is
    /// one.
    ///
    /// - Throws: As ``account(of:)`` does.
    func account(_ id: String) async throws -> DiskAccount {
        try await catchUp(id)
        guard let account = try store.account(id) else { throw Problem.loggedOut }
        return try await accepted(account)
    }

    /// Applies the changes that other servers have made to an account, and records a change that could not be stored.
    private func catchUp(_ account: String) async throws {
        try await store.catchUp(account)
        guard store.hasMissed(account) else { return }
        // As long as it fails, nothing stored is served without a request.
        _ = try? await store.apply(.doubtful, account: account, at: reader.tokens.clock.now())
    }

    private func accepted(_ account: DiskAccount) async throws -> DiskAccount {
        guard account.login.isRejected else { return account }
        do {
            _ = try await reader.info(account, .revalidate)
        } catch let problem as Problem where problem.code == .upstreamForbidden || problem.code == .notFound {
            throw problem  // Newer than the 401.
        } catch {
            throw refused
        }
        guard let account = try store.renewed(account), !account.login.isRejected else { throw refused }
        return account
    }

    /// 401: the API does not accept the account's token.
    private var refused: Problem { reader.client.failure(.rejected(status: .unauthorized, body: [])).problem }
}
