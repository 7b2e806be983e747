import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage
import Synchronization
import Upstream

/// Provides requests to the API with the token of a login.
///
/// A token that has expired is refreshed before it is sent, and one that the API refuses (401) is refreshed once. A 401
/// that remains is recorded: nothing stored is shown to the sessions of that token from then on. The sealed token is
/// opened only when a request is about to be sent.
struct TokenProvider: Sendable {
    /// The token has expired and could not be refreshed, so nothing was sent to the API. It says nothing about the
    /// login or the stored copies.
    struct Expired: Error {
        /// The failure of OAuth; nil if it has not responded within the patience.
        let failure: UpstreamFailure?
    }

    let store: DiskStore
    /// Refreshes tokens; nil if no application is configured.
    let oauth: YandexOAuthClient?
    let clock: WallClock
    private let refreshes: SingleFlight<String, DiskToken, any Error>
    /// The token of one write, once it was opened; nil for reads, which open it when they send a request.
    private var opened: OpenedToken?

    init(store: DiskStore, oauth: YandexOAuthClient?, clock: WallClock) {
        self.store = store
        self.oauth = oauth
        self.clock = clock
        refreshes = SingleFlight(sleep: clock.sleep)
    }

    /// Returns a provider for the requests of one write, which opens the token once.
    func forOneWrite() -> TokenProvider {
        var provider = self
        provider.opened = OpenedToken()
        return provider
    }

    /// Sends a request with the account's token.
    ///
    /// - Throws: 401 `session-expired` if the account was logged out; `UpstreamFailure` if an expired token could not
    ///   be refreshed; errors of `body`.
    func authorized<Value>(
        _ account: DiskAccount,
        _ body: (_ access: DiskAccess) async throws -> Value
    ) async throws -> Value {
        do {
            return try await authorized(
                account,
                patience: nil,
                lazily: {
                    try await body(DiskAccess(token: $0(), folder: AppFolder(ofAccount: account.id)))
                }
            )
        } catch let error as Expired {
            throw error.failure ?? error
        }
    }

    /// Runs a request that asks for the account's token if it needs one.
    ///
    /// - Parameter patience: Longest wait for the refresh of a token that has expired; nil waits to its end.
    /// - Throws: 401 `session-expired` if the account was logged out; ``Expired``; errors of `body`.
    func authorized<Value>(
        _ account: DiskAccount,
        patience: Duration?,
        lazily body: (_ token: () async throws -> String) async throws -> Value
    ) async throws -> Value {
        var sent: DiskToken?
        do {
            return try await body {
                let token = try await current(account, patience)
                sent = token
                opened?.token.withLock { $0 = token }
                return token.accessToken
            }
        } catch  where Self.isUnauthorized(error) {
            guard let sent else { throw error }
            do {
                guard let fresh = try await refreshed(sent, of: account, nil) else { throw error }
                opened?.token.withLock { $0 = fresh }
                return try await body { fresh.accessToken }
            } catch  where Self.isUnauthorized(error) {
                try await store.setRejected(true, of: account)
                throw error
            } catch let expired as Expired {
                // The API has refused the token: that is news which no stored copy may hide.
                throw expired.failure ?? expired
            }
        }
    }

    /// Whether an error is a 401 of the API.
    static func isUnauthorized(_ error: any Error) -> Bool {
        DiskRefusal(error)?.status == 401
    }

    /// Whether the token of a login has to be refreshed before it is sent.
    func isExpired(_ login: DiskLogin) throws -> Bool {
        try store.token(named: login.token).map(hasEnded) ?? false
    }

    private func hasEnded(_ token: DiskToken) -> Bool {
        token.expiresAt.map { $0 <= clock.now().addingTimeInterval(60) } ?? false
    }

    /// Returns the token of a login, refreshed if it expires within a minute.
    private func current(_ account: DiskAccount, _ patience: Duration?) async throws -> DiskToken {
        var known = opened?.token.withLock { $0 }
        if known == nil { known = try store.token(named: account.login.token) }
        guard let token = known else { throw Problem.loggedOut }
        guard hasEnded(token) else { return token }
        return try await refreshed(token, of: account, patience) ?? token
    }

    /// Returns a newer token; nil if there is no way to get one.
    ///
    /// - Throws: ``Expired`` if OAuth fails; ``DiskRefusal`` (401) if the account was logged out meanwhile;
    ///   `CancellationError`.
    private func refreshed(_ token: DiskToken, of account: DiskAccount, _ patience: Duration?) async throws
        -> DiskToken?
    {
        guard let oauth, let refreshToken = token.refreshToken else { return nil }
        // One request at a time: a refresh token can be used once.
        let name = account.login.token
        let (outcome, _) = await refreshes.run(name, patience: patience) { [store, clock] in
            let fresh = try await store.refresh(token, named: name, of: account.id) {
                let grant = try await oauth.grant(refreshToken: refreshToken)
                return DiskToken(grant, refreshToken: refreshToken, at: clock.now())
            }
            guard let fresh else { throw DiskRefusal(status: 401, code: "") }
            return fresh
        }
        guard case .completed(let result) = outcome else {
            try Task.checkCancellation()
            throw Expired(failure: nil)
        }
        do {
            return try result.get()
        } catch is YandexOAuthClient.Refusal {
            return nil
        } catch let error as UpstreamError {
            throw Expired(failure: UpstreamFailure(error, of: oauth.upstream))
        }
    }

    /// Returns the credential of a session for the mount of the API; nil for a session of another app.
    func mountCredential(_ session: Session) async throws -> MountCredential? {
        guard session.app == DiskApp.name else { return nil }
        try await store.catchUp(session.account)
        guard let account = try store.account(session.account, session: session.id),
            let token = try store.token(named: account.login.token)
        else { return nil }
        return MountCredential(
            authorization: YandexDiskClient.authorization(token.accessToken),
            identity: store.credential(of: account.id),
            isLoggedIn: { db in try DiskStore.epoch(of: account.id, db) != nil }
        )
    }
}

private final class OpenedToken: Sendable {
    let token = Mutex<DiskToken?>(nil)
}

extension DiskToken {
    /// Creates a token from a token response. Without a new refresh token the previous one stays valid (RFC 6749 §6).
    init(_ grant: YandexOAuthClient.Grant, refreshToken: String? = nil, at now: Date) {
        self.init(
            accessToken: grant.accessToken,
            refreshToken: grant.refreshToken ?? refreshToken,
            expiresAt: grant.expiresIn.map { now.addingTimeInterval(Double($0)) }
        )
    }
}
