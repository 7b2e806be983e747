import Concurrency
import Foundation
import Screens
import Storage
import Upstream

extension PageReader {
    /// Returns the stored page if it can be served without a request, else the page of ``page(_:on:of:for:_:_:)``.
    ///
    /// - Parameters:
    ///   - screen: The screen whose clients are notified if the page has changed.
    ///   - folder: The folder whose content the page shows, if it is one.
    ///   - resource: Describes the request.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`, `CancellationError`.
    func page(
        _ key: PageKey,
        on screen: String,
        of folder: DiskPath? = nil,
        for session: Session,
        through accounts: DiskAccounts,
        _ cachePolicy: CachePolicy,
        _ resource: (RowsRequest) -> Resource
    ) async throws -> (DiskPage, ReadResult) {
        if let stored = try storedPage(key, for: session, cachePolicy, resource) { return stored }
        let account = try await accounts.account(of: session)
        return try await page(key, on: screen, of: folder, for: account, cachePolicy, resource)
    }

    /// Returns the stored page with its account, rows and age, read in one transaction; nil if the API may have to be
    /// asked.
    ///
    /// - Throws: `StorageError`.
    private func storedPage(
        _ key: PageKey,
        for session: Session,
        _ cachePolicy: CachePolicy,
        _ resource: (RowsRequest) -> Resource
    ) throws -> (DiskPage, ReadResult)? {
        guard !store.hasMissed(session.account) else { return nil }
        // Nothing is requested with it, so it need not know the account's epoch.
        let resource = resource(RowsRequest(account: session.account, epoch: 0, time: clock.now()))
        let witness = client.upstream.witness(of: resource.url)
        return try store.database.read { db in
            guard let account = try DiskStore.account(session.account, session: session.id, db),
                !account.login.isRejected
            else { return nil }
            let upstream = client.upstream
            guard let result = try upstream.storedResult(of: resource, cachePolicy, since: witness, in: db),
                let page = try store.storedPage(key, account: account, db)?.page
            else { return nil }
            accessRecorder.note(key, at: clock.now())
            return (page, result.marked(by: page))
        }
    }
}
