import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension Listing {
    private static let sortKeys = ["name", "path", "created", "modified", "size"]

    /// `GET /v1/disk/files`: the content of a folder.
    @Sendable func folder(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath(fallback: .root)
        let sort = try request.query.string("sort") ?? "created"
        guard Self.sortKeys.contains(sort.hasPrefix("-") ? String(sort.dropFirst()) : sort) else {
            throw Problem.invalidParameter(
                "sort",
                accepted: "accepts name, path, created, modified or size, with - before it the other way round"
            )
        }
        let pages = PagedList(positionsOf: "disk.files", by: sort, filter: path.text)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            screen: "disk.files",
            list: "files",
            query: sort,
            pages: pages,
            page: asked,
            folder: path,
            empty: .folder(path),
            actions: [.refresh(path.link(to: "/v1/disk/files").query("refresh", "1"))]
        )
        return try await list(query, request, for: session) { part, rows in
            let (folder, page) = (part.folder ?? path, part.page)
            let young = store.changeLogs.young(of: session.account, at: clock.now())
            return client.folder(
                folder,
                limit: page.limit,
                offset: page.offset,
                sort: sort,
                account: session.account,
                isPresent: young?.covers(folder) == true
            ) {
                [store] record throws(UpstreamError) in
                store.persistRows(try record.fetchedRows(of: folder, page, as: part.key), rows)
            }
        }
    }
}

extension ResourceRecord {
    /// Returns the rows of a part of a folder, or the one row of a file at its place.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a folder without its content.
    fileprivate func fetchedRows(
        of path: DiskPath,
        _ asked: PageRequest,
        as key: PageKey
    ) throws(UpstreamError) -> FetchedRows {
        let own = item.map { [$0] } ?? []
        guard kind != .file else { return FetchedRows(rows: own.map { .item($0) }, subject: path) }
        guard let embedded else { throw .badResponse(status: .ok, reason: "a folder without its content") }
        return FetchedRows(
            rows: embedded.rows.prefix(asked.limit).uniqueByPath,
            others: own,
            key: key,
            folder: path,
            total: embedded.total,
            hasMore: embedded.hasMore(after: asked)
        )
    }
}

extension ResourceRecord.Embedded {
    /// Whether rows follow the requested page: as the total says, else if the page is full.
    func hasMore(after asked: PageRequest) -> Bool {
        total.map { asked.end < $0 && !rows.isEmpty } ?? (rows.count >= asked.limit)
    }
}
