import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

extension ProductSearch {
    /// A part of the catalogue's list, with the rows that it has in the store.
    struct Part: Sendable {
        /// In the upstream's order, nil for rows that cannot be shown. Nil as a whole if the upstream could not be
        /// asked and no response is stored.
        var products: [Product?]?
        var provenance: Provenance
        var changeToken: ChangeToken?
        /// Whether a stale response is used in place of a fresh one.
        var isOutdated: Bool
        /// Whether the upstream did not respond within the patience.
        var isAbandoned: Bool

        /// Returns provenance and change token of a page that is made from this part and earlier ones.
        func combined(with earlier: (provenance: Provenance, changeToken: ChangeToken?)?) -> (
            provenance: Provenance, changeToken: ChangeToken?
        ) {
            guard let earlier else { return (provenance, changeToken) }
            let both = earlier.changeToken.flatMap { earlier in changeToken.map { earlier.and($0) } }
            return (earlier.provenance.combined(with: provenance), both)
        }

        /// Marks the part as stale if products of earlier responses are shown in the place of rows that cannot be used.
        fileprivate func marked(isOlder: Bool) -> Part {
            guard isOlder else { return self }
            var part = self
            part.provenance.stale = true
            if part.provenance.cacheStatus?.detail == nil { part.provenance.cacheStatus?.detail = "bad-response" }
            return part
        }
    }

    /// Reads a part. If the upstream is slow, waits for it to the total time-out if there is nothing else to show, and
    /// otherwise has listeners notified when the response is in.
    func usablePart(of page: Page, _ offset: Int, _ limit: Int) async throws -> Part {
        let part = try await part(of: page, offset, limit)
        guard part.isAbandoned else { return part }
        if page.rows(of: part) == nil, try shop.store.search(page.query, from: page.place, limit: page.limit).isEmpty {
            return try await self.part(of: page, offset, limit, waits: true)
        }
        let key = page.catalogueQuery.path(offset: offset, limit: limit)
        shop.lateResponses.expect(key, for: page.profile, of: shop) {
            try await shop.api.readProducts(page.catalogueQuery, options(page, offset, limit, waits: true)).result
        }
        return part
    }

    /// Reads a part of the catalogue's list.
    ///
    /// - Parameter waits: Whether to wait to the total time-out even if there is something to show.
    func part(of page: Page, _ offset: Int, _ limit: Int, waits: Bool = false) async throws -> Part {
        let changeToken = ChangeToken(of: shop.store.catalogueChanges)
        let options = options(page, offset, limit, waits: waits)
        let (result, body) = try await shop.api.readProducts(page.catalogueQuery, options)
        let isAbandoned = result.provenance.cacheStatus?.detail == "patience"
        guard result.response != nil else {
            return Part(products: nil, provenance: result.provenance, isOutdated: true, isAbandoned: isAbandoned)
        }
        guard let body else { throw UpstreamFailure(.notStored, of: shop.api.upstream) }
        var rows = CatalogueAPI.rows(in: body, options)
        if try await repeatsEarlierPart(rows, page, options) { rows = [] }
        let isConfirmed = result.provenance.isValidatedNow
        let returned = isConfirmed ? try await returned(in: rows.prefix(limit)) : []
        if isConfirmed {
            shop.store.startRenewal(of: rows.prefix(limit).compactMap { $0?.isUsable == true ? $0?.id : nil })
        }
        return try part(of: page, options, rows, returned: returned, result, changeToken, isAbandoned: isAbandoned)
    }

    /// Returns the first part of the catalogue's list if it is served without a request; nil for others, which are
    /// compared with earlier parts.
    ///
    /// - Parameters:
    ///   - readToken: Taken before the transaction within which this is called.
    ///   - isChecked: Whether products on lists that it lacks are looked for.
    func storedPart(
        of page: Page,
        _ offset: Int,
        _ limit: Int,
        since readToken: SearchToken,
        isChecked: Bool = true
    ) throws -> Part? {
        guard offset == 0 else { return nil }
        let options = options(page, offset, limit, waits: false)
        guard let stored = try shop.api.storedProducts(page.catalogueQuery, options, since: readToken.responses) else {
            return nil
        }
        let rows = CatalogueAPI.rows(in: stored.body, options)
        let part = try part(of: page, options, rows, stored.result, readToken.catalogue, isChecked: isChecked)
        // The part has tokens of single products, which were taken after the transaction began.
        return readToken.catalogue.holds ? part : nil
    }

    private func part(
        of page: Page,
        _ options: CatalogueAPI.PartOptions,
        _ rows: [ListedProduct?],
        returned: Set<Int> = [],
        _ result: ReadResult,
        _ changeToken: ChangeToken,
        isAbandoned: Bool = false,
        isChecked: Bool = true
    ) throws -> Part {
        let (offset, limit) = (options.offset, options.limit)
        if isChecked, page.catalogueQuery.items.isEmpty, !result.provenance.stale {
            shop.listCheck.take(rows.map { $0?.id }, offset: offset, limit: limit, of: shop)
        }
        // More rows than requested are not shown, and were not stored.
        let rows = Array(rows.prefix(limit))
        // The first page of a search that the catalogue filters itself has the rows of its response, and no others.
        let unchanged =
            page.catalogueQuery.isExact && offset == 0
            ? shop.store.changeToken(products: rows.compactMap { $0?.id }) : changeToken
        let known = try shop.store.products(rows.compactMap { $0?.id })
        let shown = rows.map { row in
            row.flatMap { known[$0.id] }.flatMap { $0.isGone && !returned.contains($0.product.id) ? nil : $0 }
        }
        let isOlder = zip(rows, shown).contains { row, product in row?.isUsable == false && product != nil }
        return Part(
            products: shown.map { $0?.product },
            provenance: result.provenance.including(known.values.map(\.changedAt)),
            changeToken: result.changeToken?.and(unchanged),
            isOutdated: result.provenance.stale,
            isAbandoned: isAbandoned
        ).marked(isOlder: isOlder)
    }

    /// Returns the options to read a part. If no response is stored for it, the products seen so far answer instead.
    func options(_ page: Page, _ offset: Int, _ limit: Int, waits: Bool) -> CatalogueAPI.PartOptions {
        CatalogueAPI.PartOptions(
            offset: offset,
            limit: limit,
            cachePolicy: page.cachePolicy,
            bundledAt: page.lastFetch,
            waits: waits,
            // Products that are known do not all vanish at once.
            acceptsEmpty: !page.catalogueQuery.items.isEmpty || offset > 0 || page.lastFetch == nil,
            save: shop.save
        )
    }

    /// Whether a part has just the rows of the first part, or of the one before it: the upstream ignores paging, and
    /// pages would follow each other without an end.
    private func repeatsEarlierPart(_ rows: [ListedProduct?], _ page: Page, _ part: CatalogueAPI.PartOptions)
        async throws -> Bool
    {
        guard part.offset > 0, rows.contains(where: { $0 != nil }) else { return false }
        let distance = page.catalogueQuery.isExact ? page.limit : part.limit
        for offset in Set([0, max(0, part.offset - distance)]) {
            let earlier = try await shop.api.storedIDs(page.catalogueQuery, part.with(offset: offset))
            if earlier == rows.map({ $0?.id }) { return true }
        }
        return false
    }

    /// Returns the products of confirmed rows that were gone, and marks them as present again, unless the disk is full.
    private func returned(in rows: some Sequence<ListedProduct?>) async throws -> Set<Int> {
        let known = try shop.store.products(rows.compactMap { $0?.id })
        let returned = known.values.filter(\.isGone).map(\.product.id)
        if !returned.isEmpty { try await shop.store.markPresent(returned, at: shop.clock.now()) }
        return Set(returned)
    }
}

extension Provenance {
    /// Returns the provenance of a response that is made from two: that of the worse one, with the older date of
    /// its validation, and the newer one of its content.
    func combined(with other: Provenance) -> Provenance {
        var combined = other.severity > severity ? other : self
        combined.validatedAt = [validatedAt, other.validatedAt].compactMap { $0 }.min()
        return combined.including([contentTime, other.contentTime].compactMap { $0 })
    }

    /// Returns the provenance of a response that includes contents received at these times, too.
    func including(_ dates: [Date]) -> Provenance {
        var provenance = self
        provenance.contentFetchedAt = (dates + [contentTime].compactMap { $0 }).max()
        return provenance
    }

    private var contentTime: Date? { contentFetchedAt ?? validatedAt }

    private var severity: Int { (offline ? 4 : 0) + (stale ? 2 : 0) + (isValidatedNow ? 0 : 1) }
}

/// Notifies listeners when a response is in that a search did not wait for.
final class LateResponses: Sendable {
    private let tasks = BackgroundTasks()
    /// The profiles that wait for each response.
    private let expected = Mutex<[String: Set<String>]>([:])

    /// Waits for a response in the background, once for all searches that need it, and notifies their profiles.
    ///
    /// - Parameters:
    ///   - key: Identifies the response.
    ///   - profile: Of the search; nil for one that was made by the server.
    ///   - read: Joins the request for it, and waits to the end.
    func expect(
        _ key: String,
        for profile: String?,
        of shop: Shop,
        _ read: @escaping @Sendable () async throws -> ReadResult
    ) {
        let isFirst = expected.withLock { expected in
            let isFirst = expected[key] == nil
            expected[key, default: []].formUnion([profile].compactMap(\.self))
            return isFirst
        }
        guard isFirst else { return }
        tasks.start { [self] in
            // A failed read brings no newer results, so nobody is notified.
            let result = try? await read()
            let profiles = expected.withLock { $0.removeValue(forKey: key) } ?? []
            guard let result, !result.provenance.stale else { return }
            // A client may listen at another server than the one that it searches at.
            for profile in profiles.sorted() {
                let (app, revision) = (ShopApp.name, Int(shop.clock.now().millisecondsSince1970))
                shop.events.publish(["shop.search"], of: app, revision, to: .profile(app: app, profile: profile))
            }
        }
    }
}
