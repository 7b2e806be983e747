import Foundation
import Screens
import Storage
import Upstream

extension Listing {
    /// `GET /v1/disk/published`.
    @Sendable func published(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let type = try request.query.string("type") ?? "all"
        guard ["all", "file", "dir"].contains(type) else {
            throw Problem.invalidParameter("type", accepted: "accepts all, file or dir")
        }
        let pages = PagedList(positionsOf: "disk.published", filter: type)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            screen: "disk.published",
            list: "published",
            query: type,
            pages: pages,
            page: asked,
            empty: .published,
            actions: [.refresh("/v1/disk/published?refresh=1")]
        )
        return try await list(query, request, for: session) { part, rows in
            client.published(
                limit: part.page.limit + 1,
                offset: part.page.offset,
                type: type == "all" ? nil : type,
                account: session.account
            ) { [store] record in
                store.persistRows(record.publishedRows(part.page, as: part.key), rows)
            }
        }
    }
}

extension FlatListRecord {
    /// Returns the rows of a page of published items. They are published because they are in this list, whether or not
    /// the response has a link.
    fileprivate func publishedRows(_ asked: PageRequest, as key: PageKey) -> FetchedRows {
        let page = rows.prefix(asked.limit).uniqueByPath.map { row in
            guard case .item(var item) = row else { return row }
            item.isPublished = true
            return .item(item)
        }
        return FetchedRows(rows: page, key: key, hasMore: rows.count > asked.limit)
    }
}
