import HTTPTypes
import Foundation
import HTTPCaching
import Screens
import Storage
import Upstream

extension DiskService {
    /// Rows that one request to the upstream brings, and most requests of one search.
    private static let (searchBatch, searchBatches) = (1000, 5)

    /// `GET /v1/disk/search`: files and folders whose name contains a text. The upstream cannot search, so its list of all files is brought up to date first; what is searched are the rows that are known here.
    @Sendable func search(_ request: ScreenRequest) async throws -> Reply {
        let asked = try request.query.page(defaultLimit: 20)
        let text = (try request.query.string("query") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.unicodeScalars.count <= DiskPath.longestName, !text.utf8.contains(0) else {
            throw Problem.invalidParameter("query", accepted: "accepts 1 to \(DiskPath.longestName) characters")
        }
        let timeZone = try timeZone(request)
        let account = try await account(of: request)
        let (provenance, isComplete) = try await allFiles(account, try request.demand())
        let found = try store.search(text, account: account.id, limit: asked.limit, offset: min(asked.offset, Int(Int32.max)))
        let shown = Page(asked, count: found.rows.count, total: found.total, hasMore: asked.end < found.total)
        let isEmpty = found.total == 0
        let meta = Meta(
            screen: "disk.search",
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            partial: !isComplete,
            banner: provenance.offline ? .diskOffline : nil,
            page: shown
        )
        return try .screen(
            Envelope(
                data: RowListScreen(found.rows, timeZone: timeZone, empty: .search, isEmpty: isEmpty),
                meta: meta,
                links: request.links(for: shown)
            ),
            provenance: provenance,
            now: clock.now()
        )
    }

    /// Brings the rows of all files up to date, as far as that goes; out of reach, what is known has to do.
    private func allFiles(_ account: DiskAccount, _ demand: Demand) async throws -> (Provenance, isComplete: Bool) {
        var last: Provenance?
        for batch in 0..<Self.searchBatches {
            let offset = batch * Self.searchBatch
            let key = PageKey(account: DiskStore.owner(account.id), screen: "all", offset: offset, limit: Self.searchBatch)
            do {
                let (page, reading) = try await page(key, account, demand) { token, epoch in
                    let now = clock.now()
                    return api.allFiles(limit: Self.searchBatch, offset: offset, token, account: account.id) { record in
                        let items = Self.unique(record.items)
                        return store.admission(
                            items,
                            as: key,
                            hasMore: record.items.count == Self.searchBatch,
                            account: account.id,
                            epoch: epoch,
                            at: now,
                            changed: { _ in }
                        )
                    }
                }
                last = reading.provenance
                if reading.provenance.offline { return (reading.provenance, false) }
                if !page.hasMore { return (reading.provenance, true) }
            } catch let failure as UpstreamFailure {
                // Nothing of the list is known. What other screens have shown can be searched all the same.
                switch failure.error {
                case .unreachable:
                    return (
                        Provenance(source: .cache, offline: true, fetchedAt: account.linkedAt, cacheStatus: .init(.forward(.uriMiss), detail: "unreachable")),
                        false
                    )
                case .failing(let status, _), .badAnswer(let status?, _):
                    return (
                        Provenance(
                            source: .cache,
                            stale: true,
                            fetchedAt: account.linkedAt,
                            cacheStatus: .init(.forward(.uriMiss), forwardStatus: status.code, detail: "stale-if-error")
                        ), false
                    )
                default: throw failure
                }
            }
        }
        return (last ?? .local, false)
    }
}
