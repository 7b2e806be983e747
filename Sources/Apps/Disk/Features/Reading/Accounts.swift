import Cluster
import Concurrency
import Foundation
import HTTPTypes
import Logging
import Screens
import Storage
import Upstream

/// An account of Yandex Disk that is logged in.
struct DiskAccount: Sendable, Equatable {
    var id: String
    var name: String?
    var linkedAt: Date
    var space: DiskSpace
    var epoch: Int64
    var revision: Int
    /// When anything that is known of its files was last received; nil if nothing was.
    var contentChangedAt: Date?
    /// The login whose token its requests are sent with.
    var login: DiskLogin
}

/// A login of an account, with a token of its own.
struct DiskLogin: Sendable, Equatable {
    /// Identity of the session that it opened.
    var session: String
    /// Name of its sealed token.
    var token: String
    /// Whether the API has refused the token.
    var isRejected: Bool
}

/// The OAuth token of a login. Stored sealed; sent to the API only.
struct DiskToken: Codable, Sendable, Equatable {
    var accessToken: String
    var refreshToken: String?
    var expiresAt: Date?
}

/// The space of an account, in bytes.
struct DiskSpace: Sendable, Equatable {
    var total: Int
    var used: Int
    var trash: Int
}

// The account of a session.
extension Disk {
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
            guard let account = try store.account(session.account, session: session.id) else { throw Problem.loggedOut }
            return account.login.isRejected ? nil : (account, try value(account))
        }
        if let read { return read }
        let account = try await account(of: session)
        return (account, try store.database.read { _ in try value(account) })
    }

    /// Returns a logged-in account for work that belongs to no session, with a token that the API accepts if there is
    /// one.
    func account(_ id: String) async throws -> DiskAccount {
        try await catchUp(id)
        guard let account = try store.account(id) else { throw Problem.loggedOut }
        return try await accepted(account)
    }

    /// Applies the changes that other servers have made to an account, and records a change that could not be stored.
    private func catchUp(_ account: String) async throws {
        try await store.catchUp(account)
        guard store.isDirty(account) else { return }
        // As long as it fails, nothing stored is served without a request.
        _ = try? await store.apply(.doubtful, account: account, at: clock.now())
    }

    private func accepted(_ account: DiskAccount) async throws -> DiskAccount {
        guard account.login.isRejected else { return account }
        do {
            _ = try await info(account, .revalidate)
        } catch let problem as Problem where problem.code == .upstreamForbidden || problem.code == .notFound {
            throw problem  // Newer than the 401.
        } catch {
            throw refused
        }
        guard let account = try store.renewed(account), !account.login.isRejected else { throw refused }
        return account
    }

    /// 401: the API does not accept the account's token.
    private var refused: Problem { client.failure(.rejected(status: .unauthorized, body: [])).problem }
}

// Resources of the API, read for an account through the store.
extension Disk {
    /// Reads a resource with the account's token, which is opened only if a request is sent.
    ///
    /// - Parameter path: The path that the resource is about; its row is removed if the API says that none exists.
    func read(
        _ resource: Resource,
        of path: DiskPath? = nil,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> ReadResult {
        var resource = resource
        // A read never joins a request that was sent before a write that it has to show.
        resource.generation = account.epoch
        let cachePolicy = cachePolicy == .useCache && store.isDirty(account.id) ? .revalidate : cachePolicy
        resource.needsRevalidation = { [store] db in try store.isSuperseded(account.epoch, account: account.id, db) }
        do {
            return try await load.during { try await result(of: resource, for: account, cachePolicy) }
        } catch {
            if let path, DiskRefusal(error)?.isGone == true {
                try await forget(path, for: account)
            }
            if let expired = error as? TokenProvider.Expired, let failure = expired.failure { throw failure }
            let right: DiskRight = resource.url == client.url("") ? .info : .read
            throw client.translated(error, hasPath: path != nil, right: right)
        }
    }

    /// Reads a resource. While an expired token cannot be refreshed, the stored copy is returned as offline: the
    /// failure of OAuth says nothing about the copy.
    private func result(
        of resource: Resource,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy
    ) async throws -> ReadResult {
        do {
            return try await authorized(resource, account, cachePolicy, client.upstream.configuration.patience)
        } catch let expired as TokenProvider.Expired {
            if let stored = try client.upstream.unrequestedResult(of: resource) { return stored }
            if let failure = expired.failure { throw failure }
            return try await authorized(resource, account, cachePolicy, nil)
        }
    }

    private func authorized(
        _ resource: Resource,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ patience: Duration?
    ) async throws -> ReadResult {
        try await tokens.authorized(account, patience: patience) { [client, resource] token in
            try await client.upstream.read(resource, cachePolicy) { resource in
                resource.headerFields[.authorization] = YandexDiskClient.authorization(try await token())
            }
        }
    }

    /// Reads the account's space.
    func info(_ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> ReadResult {
        try await read(infoResource(account), for: account, cachePolicy)
    }

    /// Returns the read of the account's space if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the account was read, in the same transaction.
    func storedInfo(_ account: DiskAccount, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws
        -> ReadResult?
    {
        try stored(infoResource(account), for: account, cachePolicy, since: readToken)
    }

    /// Returns the read of a resource, without its response, if it is served without a request.
    ///
    /// - Parameter readToken: Taken before the transaction within which this is called.
    func stored(
        _ resource: Resource,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        since readToken: ReadToken
    ) throws -> ReadResult? {
        guard !store.isDirty(account.id), let readToken = client.upstream.readToken(of: resource.url, since: readToken)
        else { return nil }
        return try client.upstream.storedResult(of: resource, cachePolicy, since: readToken)
    }

    private func infoResource(_ account: DiskAccount) -> Resource {
        client.info(account: account.id) { [store] record throws(UpstreamError) in
            guard record.user.map({ $0.uid == AppFolder.uid(ofAccount: account.id) }) ?? true else {
                throw .badResponse(status: .ok, reason: "another account's data")
            }
            return store.persistRows(of: record.space, account: account)
        }
    }
}
