import Foundation
import HTTPTypes
public import Screens
import Storage
public import Upstream

/// Refreshes under way, one an account: a refresh token is good once.
actor TokenRefreshes {
    private var tasks: [String: Task<DiskToken, any Error>] = [:]

    func refresh(_ account: String, _ work: @escaping @Sendable () async throws -> DiskToken) async throws -> DiskToken
    {
        if let task = tasks[account] { return try await task.value }
        let task = Task { try await work() }
        tasks[account] = task
        defer { tasks[account] = nil }
        return try await task.value
    }
}

extension DiskService {
    /// Calls the upstream with the account's token: refreshed before where it has run out, and after where the upstream
    /// does not take it any more. A 401 that stands is noted: nothing stored is shown from then on.
    func authorized<Value>(_ account: String, _ body: (_ token: String) async throws -> Value) async throws -> Value {
        guard var token = try store.token(of: account) else { throw Self.sessionExpired }
        if let expiresAt = token.expiresAt, expiresAt <= clock.now().addingTimeInterval(60),
            let fresh = try await refreshed(token, of: account)
        {
            token = fresh
        }
        do {
            return try await body(token.accessToken)
        } catch  where Self.isUnauthorized(error) {
            do {
                guard let fresh = try await refreshed(token, of: account) else { throw error }
                return try await body(fresh.accessToken)
            } catch  where Self.isUnauthorized(error) {
                try await store.setRejected(true, account: account)
                throw error
            }
        }
    }

    static func isUnauthorized(_ error: any Error) -> Bool {
        DiskRefusal(error)?.status == 401
    }

    /// A newer token; nil where none can be had. Throws what OAuth's failure is, which says nothing of the token.
    private func refreshed(_ token: DiskToken, of account: String) async throws -> DiskToken? {
        guard let oauth, let refreshToken = token.refreshToken else { return nil }
        do {
            return try await refreshes.refresh(account) { [self] in
                // Somebody may have been faster.
                if let present = try store.token(of: account), present != token { return present }
                let fresh = Self.token(
                    try await oauth.grant(refreshToken: refreshToken),
                    refreshToken: refreshToken,
                    at: clock.now()
                )
                guard try await store.replace(token, by: fresh, of: account) else {
                    throw DiskRefusal(status: 401, code: "")
                }
                return fresh
            }
        } catch is YandexOAuthAPI.Refusal {
            return nil
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: oauth.upstream)
        }
    }

    static func token(_ grant: YandexOAuthAPI.Grant, refreshToken: String? = nil, at now: Date) -> DiskToken {
        DiskToken(
            accessToken: grant.accessToken,
            refreshToken: grant.refreshToken ?? refreshToken,
            expiresAt: grant.expiresIn.map { now.addingTimeInterval(Double($0)) }
        )
    }

    /// What a session of this app brings along to the upstream's own API; nil for sessions of others.
    public func mountCredential(_ session: Session) throws -> MountCredential? {
        guard session.app == "disk", let token = try store.token(of: session.account) else { return nil }
        return MountCredential(
            authorization: "OAuth \(token.accessToken)",
            identity: store.credential(of: session.account)
        )
    }
}
