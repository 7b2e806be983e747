import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

// Pages of lists.
extension Disk {
    /// Reads a page from the API, or from the store if the API need not or cannot be requested.
    ///
    /// Changes made during the request are in it (``DiskStore/persistRows(_:_:)``). The API is asked again only if the
    /// account was logged in again, or if a page is missing that a stored response belongs to. A page that was evicted,
    /// or that has moved with its folder, is as old as its own date says.
    ///
    /// While the API does not respond, a page that is not stored is made of other stored pages of its list. If those
    /// have only a part of it, that needs an API that is known to be unreachable.
    ///
    /// - Parameters:
    ///   - screen: The screen whose clients are notified if the page has changed.
    ///   - folder: The folder whose content the page shows, if it is one.
    ///   - resource: Describes the request.
    func page(
        _ key: PageKey,
        on screen: String,
        of folder: DiskPath? = nil,
        for account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ resource: (RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        var cachePolicy = cachePolicy
        var present = account
        for _ in 0..<Self.attempts {
            let substitute = try store.substitute(key, of: folder, account: account.id)
            var resource = resource(request(present, screen, hasSubstitute: substitute != nil))
            resource.bundledAt = substitute.flatMap { $0.isPartial && client.isReachable ? nil : $0.fetchedAt }
            resource.bundledSource = .upstream
            let result: ReadResult
            do {
                result = try await read(resource, of: folder, for: present, cachePolicy)
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let renewed = try store.renewed(account) else { throw Problem.loggedOut }
                present = renewed
                cachePolicy = .revalidate
                continue
            } catch let failure as UpstreamFailure
                where failure.error.isUnreachable && substitute?.isPartial == true && resource.bundledAt == nil
                && !client.isReachable
            {
                continue  // Now that the API is known to be unreachable, a part is better than nothing.
            } catch let failure as UpstreamFailure where failure.error.status == .notFound {
                guard let made = try folder.flatMap({ try store.youngFolder(key, $0, account: account.id) }) else {
                    throw failure
                }
                return (made, .notShownYet(since: made.fetchedAt).marked(by: made))
            }
            if let page = try page(key, of: folder, account, result) { return (page, result.marked(by: page)) }
            try explainAbsence(of: folder, account, cachePolicy, result)
            present = try store.renewed(account) ?? present
            cachePolicy = .revalidate
        }
        throw client.failure(Self.accountReplaced)
    }

    /// Returns the page that a read has fetched or found, or its rows from other stored pages.
    private func page(
        _ key: PageKey,
        of folder: DiskPath?,
        _ account: DiskAccount,
        _ result: ReadResult
    ) throws -> DiskPage? {
        if let page = try store.page(key, account: account.id) {
            accessRecorder.note(key, at: clock.now())
            return page
        }
        guard !result.provenance.isValidatedNow else { return nil }
        return try store.window(key, of: folder, account: account.id).flatMap {
            $0.isPartial && !result.provenance.offline ? nil : $0
        }
    }

    private func request(_ account: DiskAccount, _ screen: String, hasSubstitute: Bool) -> RowsRequest {
        RowsRequest(
            account: account.id,
            epoch: account.epoch,
            time: clock.now(),
            hasSubstitute: hasSubstitute,
            screen: screen
        )
    }

    /// Explains why a page is missing after a read; returns if another request may help.
    ///
    /// - Throws: 409 `not-a-folder`, 404 `not-found`, `UpstreamFailure`, `StorageError`.
    private func explainAbsence(
        of folder: DiskPath?,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ result: ReadResult
    ) throws {
        if let folder, try store.row(folder, account: account.id)?.item.kind == .file {
            throw Problem(.notAFolder, "\(folder.name) is a file; its screen is \(folder.link(to: "/v1/disk/file")).")
        }
        if cachePolicy == .onlyIfCached { throw client.notStored }
        if let absence = client.absence(result, at: clock.now()) { throw absence }
        if let folder, result.provenance.isValidatedNow {
            throw Problem.notFound("\(folder.name) was deleted or moved while it was read.")
        }
    }
}

extension ReadResult {
    /// Returns the read of an acknowledged change that the API does not show yet.
    fileprivate static func notShownYet(since time: Date) -> ReadResult {
        let provenance = Provenance(
            source: .upstream,
            stale: true,
            validatedAt: time,
            cacheStatus: CacheStatus(
                .forward(.uriMiss),
                forwardStatus: HTTPResponse.Status.notFound.code,
                detail: "bad-response"
            )
        )
        return ReadResult(response: nil, provenance: provenance, changeToken: nil)
    }

    /// Returns the result for a page: received with the newest part of it, stale if rows are missing that it should
    /// show.
    func marked(by page: DiskPage) -> ReadResult {
        var result = received(page.changedAt)
        if page.lacksRows { result.provenance.stale = true }
        return result
    }
}

extension UpstreamError {
    fileprivate var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }
}

extension Disk {
    /// Returns the stored page if it can be served without a request, else the page of ``page(_:on:of:for:_:_:)``.
    func page(
        _ key: PageKey,
        on screen: String,
        of folder: DiskPath? = nil,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        if let stored = try storedPage(key, for: session, cachePolicy, resource) { return stored }
        let account = try await self.account(of: session)
        return try await page(key, on: screen, of: folder, for: account, cachePolicy, resource)
    }

    /// Returns the stored page with its account, rows and age, read in one transaction; nil if the API may have to be
    /// asked.
    private func storedPage(
        _ key: PageKey,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (RowsRequest) -> Resource
    ) throws -> (DiskPage, ReadResult)? {
        guard !store.isDirty(session.account) else { return nil }
        // Nothing is requested with it, so it need not know the account's epoch.
        let resource = resource(RowsRequest(account: session.account, epoch: 0, time: clock.now()))
        let readToken = client.upstream.readToken(of: resource.url)
        return try store.database.read { db in
            guard let account = try DiskStore.account(session.account, session: session.id, db),
                !account.login.isRejected
            else { return nil }
            let upstream = client.upstream
            guard let result = try upstream.storedResult(of: resource, cachePolicy, since: readToken, in: db),
                let page = try store.storedPage(key, account: account, db)
            else { return nil }
            accessRecorder.note(key, at: clock.now())
            return (page, result.marked(by: page))
        }
    }
}
