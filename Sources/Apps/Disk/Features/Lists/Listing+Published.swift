import Foundation
import Screens
import Upstream

extension Listing {
    /// `GET /v1/disk/published`.
    @Sendable func published(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let type = try request.query.string("type") ?? "all"
        guard ["all", "file", "dir"].contains(type) else {
            throw Problem.invalidParameter("type", accepted: "accepts all, file or dir")
        }
        let account = try await accounts.account(of: session)
        let refresh = Action(id: "refresh", title: "Refresh", method: "GET", href: "/v1/disk/published?refresh=1")
        let query = Query(
            screen: "disk.published",
            list: "published",
            query: type,
            page: asked,
            empty: .published,
            actions: [refresh]
        )
        return try await list(query, request, for: account) { context in
            client.published(
                limit: asked.limit + 1,
                offset: asked.offset,
                type: type == "all" ? nil : type,
                account: account.id
            ) { [store] record in
                let items = record.items.prefix(asked.limit).uniqueByPath.map { item in
                    // Published because it is in this list, whether or not the response has a link.
                    var item = item
                    item.isPublished = true
                    return item
                }
                return store.persistRows(
                    items,
                    as: context.key,
                    hasMore: record.items.count > asked.limit,
                    account: context.account,
                    epoch: context.epoch,
                    at: context.now,
                    changed: context.changed
                )
            }
        }
    }
}
