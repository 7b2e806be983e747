import Foundation
import Screens
import Storage
import Upstream

extension Listing {
    /// Media types of the API ("media_type" in the Yandex Disk REST API).
    static let mediaTypes: Set<String> = [
        "audio", "backup", "book", "compressed", "data", "development", "diskimage", "document", "encoded",
        "executable", "flash", "font", "image", "settings", "spreadsheet", "text", "unknown", "video", "web",
    ]
    /// Media types that the original app asks for.
    private static let recentMediaTypes = ["document", "image", "spreadsheet"]
    /// Maximum number of rows of one request to the API.
    private static let maximumRows = 1000

    /// `GET /v1/disk/recent`. The API has no offset for this list, so everything up to the page is requested.
    @Sendable func recent(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let mediaTypes = try mediaTypes(request)
        let pages = PagedList(positionsOf: "disk.recent", filter: mediaTypes)
        let asked = try request.query.page(of: pages, defaultLimit: 20)
        let query = Query(
            screen: "disk.recent",
            list: "recent",
            query: mediaTypes,
            pages: pages,
            page: asked,
            empty: .recent,
            actions: [.refresh("/v1/disk/recent?refresh=1")]
        )
        return try await list(query, request, for: session) { part, rows in
            // One row more than the page tells whether another page follows.
            let end = min(part.page.end, Self.maximumRows - 1) + 1
            return client.lastUploaded(limit: end, mediaTypes: mediaTypes, account: session.account) {
                [store] record in
                store.persistRows(record.recentRows(part.page, as: part.key), rows)
            }
        }
    }

    private func mediaTypes(_ request: ScreenRequest) throws -> String {
        guard let text = try request.query.string("media_type"), !text.isEmpty else {
            return Self.recentMediaTypes.joined(separator: ",")
        }
        let types = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard types.allSatisfy(Self.mediaTypes.contains) else {
            throw Problem.invalidParameter(
                "media_type",
                accepted: "accepts, divided by commas: \(Self.mediaTypes.sorted().joined(separator: ", "))"
            )
        }
        return Set(types).sorted().joined(separator: ",")
    }
}

extension FlatListRecord {
    /// Returns the rows of a page of a list that was requested from its beginning.
    fileprivate func recentRows(_ asked: PageRequest, as key: PageKey) -> FetchedRows {
        let unique = rows.uniqueByPath
        return FetchedRows(
            rows: Array(unique.dropFirst(asked.offset).prefix(asked.limit)),
            others: unique.prefix(asked.offset).items,
            key: key,
            hasMore: rows.count > asked.end
        )
    }
}
