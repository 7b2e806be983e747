import Foundation
import HTTPTypes
import Screens
import Upstream

extension Listing {
    private static let sortKeys = ["name", "path", "created", "modified", "size"]

    /// `GET /v1/disk/files`: the content of a folder.
    @Sendable func folder(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let path = try request.diskPath(fallback: .root)
        let sort = try request.query.string("sort") ?? "created"
        guard Self.sortKeys.contains(sort.hasPrefix("-") ? String(sort.dropFirst()) : sort) else {
            throw Problem.invalidParameter(
                "sort",
                accepted: "accepts name, path, created, modified or size, with - before it the other way round"
            )
        }
        let account = try await accounts.account(of: session)
        let query = Query(
            screen: "disk.files",
            list: "files",
            query: "\(path.text)\n\(sort)",
            page: asked,
            folder: path,
            empty: .folder
        )
        return try await list(query, request, for: account) { context in
            client.folder(path, limit: asked.limit, offset: asked.offset, sort: sort, account: account.id) {
                [store] record throws(UpstreamError) in
                try Self.rows(of: record, path, asked, context, store)
            }
        }
    }

    private static func rows(
        of record: ResourceRecord,
        _ path: DiskPath,
        _ asked: PageRequest,
        _ context: Context,
        _ store: DiskStore
    ) throws(UpstreamError) -> Resource.PersistRows {
        let own = record.item.map { [$0] } ?? []
        guard record.kind != .file else {
            return store.persistRows(
                own,
                as: nil,
                about: path,
                account: context.account,
                epoch: context.epoch,
                at: context.now,
                changed: context.changed
            )
        }
        guard let embedded = record.embedded else {
            throw .badResponse(status: .ok, reason: "a folder without its content")
        }
        return store.persistRows(
            embedded.items.prefix(asked.limit).uniqueByPath,
            beside: own,
            as: context.key,
            folder: path,
            total: embedded.total,
            hasMore: embedded.hasMore(after: asked),
            account: context.account,
            epoch: context.epoch,
            at: context.now,
            changed: context.changed
        )
    }
}

extension ResourceRecord.Embedded {
    /// Whether rows follow the requested page: as the total says, else if the page is full.
    func hasMore(after asked: PageRequest) -> Bool {
        total.map { asked.end < $0 && !items.isEmpty } ?? (items.count >= asked.limit)
    }
}
