import Concurrency
import Foundation
import Freshness
import HTTPTypes
import Proxy
import ResponseStore
import Screens
import Synchronization
import Upstream

/// Provides requests to the API with the token of an account.
///
/// A token that has expired is refreshed before it is sent, and one that the API refuses (401) is refreshed once. A 401
/// that remains is recorded: nothing stored is shown from then on. The sealed token is opened only when a request is
/// about to be sent.
struct TokenProvider: Sendable {
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

    /// Returns a provider for the requests of one write, which opens the account's token once.
    func forOneWrite() -> TokenProvider {
        var provider = self
        provider.opened = OpenedToken()
        return provider
    }

    /// Sends a request with the account's token.
    ///
    /// - Throws: 401 `session-expired` if the account was logged out; what `body` throws.
    func authorized<Value>(_ account: String, _ body: (_ token: String) async throws -> Value) async throws -> Value {
        try await authorized(account, lazily: { try await body($0()) })
    }

    /// Runs a request that asks for the account's token if it needs one.
    ///
    /// - Throws: 401 `session-expired` if the account was logged out; what `body` throws.
    func authorized<Value>(
        _ account: String,
        lazily body: (_ token: () async throws -> String) async throws -> Value
    ) async throws -> Value {
        var sent: DiskToken?
        do {
            return try await body {
                let token = try await current(account)
                sent = token
                opened?.token.withLock { $0 = token }
                return token.accessToken
            }
        } catch  where Self.isUnauthorized(error) {
            guard let sent else { throw error }
            do {
                guard let fresh = try await refreshed(sent, of: account) else { throw error }
                opened?.token.withLock { $0 = fresh }
                return try await body { fresh.accessToken }
            } catch  where Self.isUnauthorized(error) {
                try await store.setRejected(true, account: account)
                throw error
            }
        }
    }

    /// Whether an error is a 401 of the API.
    static func isUnauthorized(_ error: any Error) -> Bool {
        DiskRefusal(error)?.status == 401
    }

    /// Returns the account's token, refreshed if it expires within a minute.
    private func current(_ account: String) async throws -> DiskToken {
        guard let token = try opened?.token.withLock({ $0 }) ?? store.token(of: account) else {
            throw Problem.loggedOut
        }
        guard let expiresAt = token.expiresAt, expiresAt <= clock.now().addingTimeInterval(60) else { return token }
        return try await refreshed(token, of: account) ?? token
    }

    /// Returns a newer token; nil if there is no way to get one.
    ///
    /// - Throws: `UpstreamFailure` if OAuth fails, which says nothing about the token; ``DiskRefusal`` (401) if the
    ///   account was logged out or logged in again meanwhile.
    private func refreshed(_ token: DiskToken, of account: String) async throws -> DiskToken? {
        guard let oauth, let refreshToken = token.refreshToken else { return nil }
        do {
            // One request at a time: a refresh token can be used once.
            let (outcome, _) = await refreshes.run(account, patience: nil) { [store, clock] in
                // Another request may have refreshed it already.
                if let present = try store.token(of: account), present != token { return present }
                let grant = try await oauth.grant(refreshToken: refreshToken)
                let fresh = DiskToken(grant, refreshToken: refreshToken, at: clock.now())
                guard try await store.replace(token, by: fresh, of: account) else {
                    throw DiskRefusal(status: 401, code: "")
                }
                return fresh
            }
            guard case .completed(let result) = outcome else { throw CancellationError() }
            return try result.get()
        } catch is YandexOAuthClient.Refusal {
            return nil
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: oauth.upstream)
        }
    }

    /// Returns the credential of a session for the mount of the API; nil for a session of another app.
    ///
    /// - Throws: `StorageError`.
    func mountCredential(_ session: Session) throws -> MountCredential? {
        guard session.app == DiskApp.name, let token = try store.token(of: session.account) else { return nil }
        return MountCredential(
            authorization: YandexDiskClient.authorization(token.accessToken),
            identity: store.credential(of: session.account)
        )
    }
}

/// A token that is opened once.
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
