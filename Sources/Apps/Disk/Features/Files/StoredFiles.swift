import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Bodies that are stored of files: their content, previews, pages and PDFs.
struct StoredFiles: Sendable {
    let store: DiskStore
    let accessRecorder: AccessRecorder
    let budget: CacheBudget
    let clock: WallClock

    /// Opens a stored body of the present version, and records its use. A content that is kept offline comes first.
    ///
    /// - Returns: Nil if none is stored.
    /// - Throws: `StorageError`.
    func open(_ body: DiskStore.Body, of item: DiskItem, account: String) async throws -> StoredFile? {
        try await open(try find(body, of: item, account: account), of: item, account: account)
    }

    /// The stored bodies of a file, before one of them is opened.
    struct Found: Sendable {
        /// The content that is kept offline, whatever its version.
        var kept: KeptContent?
        /// The body of the present version in the cache.
        var cached: CachedResponse?

        /// Whether it is the present version of an item.
        func hasPresent(_ item: DiskItem) -> Bool {
            cached != nil || kept.map { $0.version == item.version } ?? false
        }
    }

    /// Finds a stored body of the present version, in one transaction.
    ///
    /// - Throws: `StorageError`.
    func find(_ body: DiskStore.Body, of item: DiskItem, account: String) throws -> Found {
        try store.database.read { _ in
            var found = Found()
            if body == .content {
                found.kept =
                    try store.queuedContent(of: item, account: account)
                    ?? store.keptContent(of: item.storedPath, account: account)
            }
            if found.kept == nil || found.kept?.version != item.version {
                found.cached = try store.body(body, of: item, account: account)
            }
            return found
        }
    }

    /// Opens the found body of the present version, and records its use.
    ///
    /// - Returns: Nil if there is none any more.
    /// - Throws: `StorageError`.
    func open(_ found: Found, of item: DiskItem, account: String) async throws -> StoredFile? {
        if let kept = found.kept, kept.version == item.version {
            if let file = try await open(kept, of: item, account: account) { return file }
            return try await openCached(.content, of: item, account)
        }
        return try await open(found.cached)
    }

    /// Opens a content that is kept offline.
    ///
    /// - Returns: Nil if its file is missing.
    /// - Throws: `StorageError`.
    func open(_ kept: KeptContent, of item: DiskItem, account: String) async throws -> StoredFile? {
        do {
            let reader =
                try await kept.isQueued ? store.users.reader(kept.blob) : store.database.blobs.reader(kept.blob)
            let head = CachedResponseHead(
                url: item.path.queryValue,
                status: .ok,
                headerFields: [.contentType: item.servedType, .eTag: kept.version],
                requestTime: kept.storedAt,
                responseTime: kept.storedAt
            )
            return StoredFile(head: head, body: .blob(reader))
        } catch StorageError.blobUnavailable {
            try await store.forgetKept(kept.blob, account: account)
            return nil
        }
    }

    /// Opens a body of the present version in the cache, and records its use.
    ///
    /// - Returns: Nil if none is stored.
    /// - Throws: `StorageError`.
    func openCached(_ body: DiskStore.Body, of item: DiskItem, _ account: String) async throws -> StoredFile? {
        try await open(try store.body(body, of: item, account: account))
    }

    private func open(_ response: CachedResponse?) async throws -> StoredFile? {
        guard let response, let open = try await store.responses.openBody(of: response) else { return nil }
        accessRecorder.note(response, at: clock.now())
        return StoredFile(head: response.head, body: open)
    }

    /// Stores bytes that were made of a file, inline or as a blob.
    ///
    /// - Returns: Whether they were stored: not if the account was logged out, the file has changed, or the disk is
    ///   full. They can be shown all the same.
    /// - Throws: `StorageError` other than a full disk.
    func save(_ bytes: Data, as body: DiskStore.Body, of item: DiskItem, type: String, for account: DiskAccount)
        async throws -> Bool
    {
        do {
            let stored: StoredBody =
                bytes.count > BlobStore.inlineLimit ? .blob(try store.database.blobs.write(bytes)) : .bytes(bytes)
            return try await save(stored, as: body, of: item, type: type, for: account)
        } catch StorageError.diskFull {
            return false
        }
    }

    /// Stores a finished body that was made of a file.
    ///
    /// - Parameter job: The download that fetched it, which ends in the same transaction.
    /// - Returns: Whether it was stored: not if the account was logged out or the file has changed.
    /// - Throws: `StorageError`.
    func save(
        _ stored: StoredBody,
        as body: DiskStore.Body,
        of item: DiskItem,
        type: String,
        for account: DiskAccount,
        job: String? = nil
    ) async throws -> Bool {
        try await store.save(
            stored,
            as: body,
            of: item,
            type: type,
            account: account.id,
            epoch: account.epoch,
            at: clock.now(),
            job: job
        )
    }
}
