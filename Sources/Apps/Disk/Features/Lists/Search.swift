import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskService {
    /// Rows that one request to the upstream brings, and most requests of one search.
    private static let (searchBatch, searchBatches) = (1000, 5)

    /// `GET /v1/disk/search`: files and folders whose name contains a text. The upstream cannot search, so its list of
    /// all files is brought up to date first; what is searched are the rows that are known here.
    @Sendable func search(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let text = (try request.query.string("query") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty, text.unicodeScalars.count <= DiskPath.longestName, !text.utf8.contains(0) else {
            throw Problem.invalidParameter("query", accepted: "accepts 1 to \(DiskPath.longestName) characters")
        }
        let timeZone = try timeZone(request)
        let account = try await account(of: request)
        let known = try await allFiles(account, try request.cachePolicy())
        let provenance = known.provenance
        let found = try store.search(
            text,
            account: account.id,
            lastPart: known.lastPart,
            limit: asked.limit,
            offset: min(asked.offset, Int(Int32.max))
        )
        let shown = Page(asked, count: found.rows.count, total: found.total, hasMore: asked.end < found.total)
        let isEmpty = found.total == 0
        let meta = Meta(
            screen: "disk.search",
            state: isEmpty ? .empty : .content,
            provenance: provenance,
            partial: known.lastPart == nil || provenance.offline,
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

    /// What a search looks through.
    private struct KnownFiles {
        var provenance: Provenance
        /// Offset of the last part of the list of all files; nil where not all of it is stored.
        var lastPart: Int?
    }

    /// Brings the rows of all files up to date, as far as that goes; out of reach, what is known has to do.
    private func allFiles(_ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> KnownFiles {
        var known: KnownFiles?
        for batch in 0..<Self.searchBatches {
            let offset = batch * Self.searchBatch
            let key = PageKey(
                account: DiskStore.owner(account.id),
                screen: "all",
                offset: offset,
                limit: Self.searchBatch
            )
            do {
                let (page, reading) = try await page(key, account, cachePolicy) { token, epoch in
                    let now = clock.now()
                    return api.allFiles(limit: Self.searchBatch, offset: offset, token, account: account.id) { record in
                        store.persistRows(
                            Self.unique(record.items),
                            as: key,
                            hasMore: record.items.count >= Self.searchBatch,
                            account: account.id,
                            epoch: epoch,
                            at: now,
                            changed: { _ in }
                        )
                    }
                }
                // The whole is as good as the worst of its parts.
                let provenance =
                    known.map(\.provenance).flatMap { $0.stale && !reading.provenance.offline ? $0 : nil }
                    ?? reading.provenance
                known = KnownFiles(provenance: provenance, lastPart: page.hasMore ? nil : offset)
                if !page.hasMore { break }
            } catch let failure as UpstreamFailure {
                // Not all of the list is known. What other screens have shown can be searched all the same.
                let fetchedAt = known?.provenance.validatedAt ?? account.linkedAt
                switch failure.error {
                case .unreachable:
                    let cacheStatus = CacheStatus(.forward(.uriMiss), detail: "unreachable")
                    return KnownFiles(
                        provenance: Provenance(
                            source: .cache,
                            offline: true,
                            validatedAt: fetchedAt,
                            cacheStatus: cacheStatus
                        )
                    )
                case .failing(let status, _), .badResponse(let status?, _):
                    let detail = if case .failing = failure.error { "stale-if-error" } else { "bad-response" }
                    let cacheStatus = CacheStatus(.forward(.uriMiss), forwardStatus: status.code, detail: detail)
                    return KnownFiles(
                        provenance: Provenance(
                            source: .cache,
                            stale: true,
                            validatedAt: fetchedAt,
                            cacheStatus: cacheStatus
                        )
                    )
                default: throw failure
                }
            }
        }
        return known ?? KnownFiles(provenance: .local)
    }
}
