import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// The account and its space.
struct Profile: Sendable {
    let accounts: DiskAccounts
    let clock: WallClock

    private var store: DiskStore { accounts.store }

    /// `GET /v1/disk/profile`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let (account, result) = try await sizes(request, session)
        let provenance = result.provenance
        let waiting = store.pendingWrites(of: account.id)
        let meta = Meta(
            screen: "disk.profile",
            provenance: provenance,
            banner: provenance.offline ? .diskOffline : nil,
            pending: waiting
        ).lagging(store.users.lag)
        return try .screen(
            Envelope(
                data: ProfileScreen(account, waiting: waiting?.count),
                meta: meta,
                links: Links(self: request.selfLink)
            ),
            provenance: provenance,
            now: clock.now(),
            changeToken: result.changeToken
        )
    }

    /// `GET /v1/disk/profile/chart.svg`.
    @Sendable func chart(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let (account, result) = try await sizes(request, session)
        var fields: HTTPFields = [
            .cacheControl: "private, no-cache", .contentLanguage: Language.current.rawValue,
            .vary: "Authorization, Cookie, Accept-Language",
        ]
        fields.add(result.provenance, now: clock.now())
        return ScreenResponse(
            headerFields: fields,
            body: .bytes(Data(ProfileChart.svg(account).utf8), type: "image/svg+xml; charset=utf-8"),
            changeToken: result.changeToken
        )
    }

    /// Returns the account with its space as it will be.
    private func sizes(_ request: ScreenRequest, _ session: Session) async throws -> (DiskAccount, ReadResult) {
        // Taken before anything is read.
        let changeToken = accounts.store.changeToken(account: session.account)
        var (account, result) = try await sent(request, session)
        result.changeToken = result.changeToken?.and(changeToken)
        guard let queue = store.outbox.queue(of: account.id) else { return (account, result) }
        account.space.used = max(0, account.space.used + queue.view.addedBytes)
        return (account, result)
    }

    /// Returns the account with its space as the API has it.
    private func sent(_ request: ScreenRequest, _ session: Session) async throws -> (DiskAccount, ReadResult) {
        let cachePolicy = try request.cachePolicy()
        let witness = accounts.reader.client.upstream.witness()
        let (account, stored) = try await accounts.account(of: session) {
            try accounts.reader.storedInfo($0, cachePolicy, since: witness)
        }
        if let stored { return (account, stored) }
        let result = try await accounts.reader.info(account, cachePolicy)
        guard let present = try store.renewed(account) else { throw Problem.loggedOut }
        return (present, result)
    }
}
