import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

struct Trash: Sendable {
    let disk: Disk

    private static let list = PagedList(positionsOf: "disk.trash")

    private var store: DiskStore { disk.store }

    /// `GET /v1/disk/trash`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(of: Self.list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = store.changeToken(account: session.account)
        let key = PageKey(
            account: DiskStore.owner(session.account),
            screen: "trash",
            query: "",
            offset: asked.offset,
            limit: asked.limit
        )
        let (page, result) = try await disk.page(key, on: "disk.trash", for: session, cachePolicy) {
            resource(key, asked, session.account, $0)
        }
        let shown = Page(asked, page)
        let isEmpty = page.rows.isEmpty && asked.offset == 0
        let away = Text.diskAway(result.provenance)
        let data = TrashScreen(
            items: page.rows.map { TrashRowScreen($0, timeZone: timeZone, away: away) },
            empty: isEmpty ? .trash : nil,
            actions: [.emptyTrash("/v1/disk/trash", isEmpty: isEmpty, disabled: away)]
        )
        return try disk.response(
            data,
            "disk.trash",
            result.provenance,
            links: request.links(for: shown, next: Self.list.cursor(at: asked.end)),
            state: isEmpty ? .empty : .content,
            partial: page.isPartial ? true : nil,
            page: shown,
            lag: store.users.lag,
            changeToken: result.changeToken?.and(changeToken)
        )
    }

    /// Returns the request to the API for a part of the trash.
    private func resource(_ key: PageKey, _ asked: PageRequest, _ account: String, _ rows: RowsRequest) -> Resource {
        disk.client.trash(asked, account: account) {
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

    /// `DELETE /v1/disk/trash`: permanently deletes all that is in it.
    @Sendable func empty(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await purge(.trash, request, session)
    }

    /// `DELETE /v1/disk/trash/item`: permanently deletes one item.
    @Sendable func purge(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath(scheme: .trash)
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts something in the trash, not the whole of it")
        }
        return try await purge(path, request, session)
    }

    private func purge(_ path: DiskPath, _ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let write = DiskWrite(kind: .purge, path: path, conditions: disk.conditions(of: request))
        let outcome = try await disk.run(write, for: try await disk.account(of: session))
        return try disk.response(to: outcome, request) { _, _, _ in
            try disk.removed(path, back: "/v1/disk/trash", screen: "disk.trash")
        }
    }

    /// `POST /v1/disk/trash/restore`.
    @Sendable func restore(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path", scheme: .trash)
        guard !path.isRoot else { throw Problem.validation("/path", "invalid", "path must be something in the trash.") }
        let name = try fields.string("name")
        if let name { try DiskPath.checkName(name) }
        let overwrite = try fields.diskFlag("overwrite")
        let account = try await disk.account(of: session)
        let kind = DiskWrite.Kind.restore(name: name, overwrite: overwrite)
        let write = DiskWrite(kind: kind, path: path, conditions: disk.conditions(of: request))
        let outcome = try await disk.run(write, for: account)
        return try disk.response(to: outcome, request) { row, _, _ in
            let place = row.item.path.scheme == .disk ? row.item.path : nil
            let back = (place?.parent ?? .root).link(to: "/v1/disk/files")
            let screen = RestorationScreen(path: place?.text, back: back)
            return try disk.response(screen, "disk.trash", links: Links(self: back))
        }
    }
}
