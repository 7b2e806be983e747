import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// The trash.
struct Trash: Sendable {
    let accounts: DiskAccounts
    let pages: PageReader
    let writer: WriteExecutor
    let responses: WriteResponses
    let clock: WallClock

    private static let list = PagedList(positionsOf: "disk.trash")

    private var client: YandexDiskClient { accounts.reader.client }
    private var store: DiskStore { accounts.store }

    /// `GET /v1/disk/trash`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(of: Self.list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: responses.files.timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = accounts.store.changeToken(account: session.account)
        let key = PageKey(
            account: DiskStore.owner(session.account),
            screen: "trash",
            query: "",
            offset: asked.offset,
            limit: asked.limit
        )
        let (page, result) = try await pages.page(key, on: "disk.trash", for: session, through: accounts, cachePolicy) {
            resource(key, asked, session.account, $0)
        }
        let shown = Page(asked, page)
        let isEmpty = page.rows.isEmpty && asked.offset == 0
        let meta = Meta(
            screen: "disk.trash",
            state: isEmpty ? .empty : .content,
            provenance: result.provenance,
            partial: page.isPartial ? true : nil,
            banner: result.provenance.offline ? .diskOffline : nil,
            page: shown
        ).lagging(store.users.lag)
        let data = TrashScreen(
            items: page.rows.map { TrashRowScreen($0, timeZone: timeZone, offline: result.provenance.offline) },
            empty: isEmpty ? .trash : nil
        )
        return try .screen(
            Envelope(data: data, meta: meta, links: request.links(for: shown, next: Self.list.cursor(at: asked.end))),
            provenance: result.provenance,
            now: clock.now(),
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// Returns the request to the API for a part of the trash.
    private func resource(_ key: PageKey, _ asked: PageRequest, _ account: String, _ rows: RowsRequest) -> Resource {
        client.trash(limit: asked.limit, offset: asked.offset, account: account) {
            [store] record throws(UpstreamError) in
            guard let embedded = record.embedded else {
                throw .badResponse(status: .ok, reason: "a trash without its content")
            }
            let fetched = FetchedRows(
                rows: embedded.rows.uniqueByPath,
                key: key,
                total: embedded.total,
                hasMore: embedded.hasMore(after: asked)
            )
            return store.persistRows(fetched, rows)
        }
    }

    /// `POST /v1/disk/trash/restore`.
    @Sendable func restore(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path", scheme: .trash)
        guard !path.isRoot else {
            throw Problem.validation([.field("/path", "invalid", "path must be something in the trash.")])
        }
        let name = try fields.string("name")
        if let name { try DiskPath.checkName(name) }
        let overwrite = try fields.diskFlag("overwrite")
        let account = try await accounts.account(of: session)
        let kind = DiskWrite.Kind.restore(name: name, overwrite: overwrite)
        let write = DiskWrite(kind: kind, path: path, conditions: responses.conditions(of: request))
        let outcome = try await writer.run(write, for: account)
        return try responses.restored(outcome, request)
    }
}
