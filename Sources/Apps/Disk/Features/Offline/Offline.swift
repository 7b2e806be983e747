import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// Files and folders that users keep offline.
struct Offline: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let keeper: OfflineKeeper
    let settings: SettingValues
    let clock: WallClock

    private static let list = PagedList("disk.offline", key: [.integer])

    private var store: DiskStore { accounts.store }

    /// `GET /v1/disk/offline`: the files and folders marked to be kept offline, the latest first. Needs no upstream.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(of: Self.list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: settings[DiskApp.timeZone])
        let (account, page) = try await accounts.account(of: session) {
            try store.offlinePage(asked, account: $0.id)
        }
        let shown = Page(asked, count: page.rows.count, total: page.total, hasMore: page.hasMore)
        let received = keeper.received(of: account.id)
        let next = page.rows.last.map { Self.list.cursor(after: [.integer($0.mark.number)]) }
        return try .local(
            OfflineScreen(page, received: received, budget: settings[DiskApp.offlineBudget], timeZone: timeZone),
            Meta(screen: "disk.offline", state: page.total == 0 ? .empty : .content, provenance: .local, page: shown)
                .lagging(store.users.lag),
            request.links(for: shown, next: next)
        )
    }

    /// `PUT /v1/disk/offline`: marks a file or folder. It is fetched in the background. Idempotent.
    @Sendable func mark(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().diskPath("path")
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/path", "invalid", "path must be a file or folder in the Disk, not the whole of it.")
            ])
        }
        let timeZone = try request.timeZone(fallback: settings[DiskApp.timeZone])
        let account = try await accounts.account(of: session)
        let (row, _) = try await items.item(path, for: account, .useCache)
        try check(request, path, account)
        guard
            let (_, isNew) = try await store.mark(
                row.item,
                account: account.id,
                at: clock.now(),
                maximum: settings[DiskApp.offlineFiles]
            ),
            let present = try store.offlineRow(path, account: account.id)
        else { throw Problem.loggedOut }
        return try .local(
            OfflineRowScreen(present, received: keeper.received(of: account.id), timeZone: timeZone),
            "disk.offline",
            request,
            status: isNew ? .created : .ok,
            selfLink: "/v1/disk/offline"
        )
    }

    /// `DELETE /v1/disk/offline`: removes the mark, and the local contents that no other mark keeps. Needs no upstream.
    @Sendable func unmark(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let account = try await accounts.account(of: session)
        try check(request, path, account)
        guard try await store.unmark(path, account: account.id) else {
            throw Problem.notFound("\(path.name) is not marked to be kept offline.")
        }
        keeper.cancel(path, account: account.id)
        return try .local(
            RemovalScreen(path: path.text, back: "/v1/disk/offline"),
            "disk.offline",
            request,
            selfLink: "/v1/disk/offline"
        )
    }

    /// Checks the preconditions of a write: a mark has the version 1 as long as it is there.
    ///
    /// - Throws: 412 `precondition-failed`.
    private func check(_ request: ScreenRequest, _ path: DiskPath, _ account: DiskAccount) throws {
        let version = try store.mark(path, account: account.id).map { _ in 1 }
        try request.writePreconditions().check(version: version, of: "\(path.name) in the list of offline files")
    }
}
