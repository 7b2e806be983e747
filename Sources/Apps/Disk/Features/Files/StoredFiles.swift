import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import ResponseStore
import Screens
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
        if body == .content, let kept = try await openKept(item, account: account), kept.version == item.version {
            return kept
        }
        return try await openCached(body, of: item, account)
    }

    /// Opens the content that is kept offline of a file, whatever its version.
    ///
    /// - Returns: Nil if none is kept.
    /// - Throws: `StorageError`.
    func openKept(_ item: DiskItem, account: String) async throws -> StoredFile? {
        guard let kept = try store.keptContent(of: item.path, account: account) else { return nil }
        do {
            let reader = try store.database.blobs.reader(kept.blob)
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
        guard let response = try store.body(body, of: item, account: account),
            let open = try await store.responses.openBody(of: response)
        else { return nil }
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

/// An opened body with its stored head.
struct StoredFile {
    let head: CachedResponseHead
    let body: ResponseStore.OpenBody

    /// Version of the file that it was made of.
    var version: String? { head.headerFields[.eTag] }

    /// Media type that it was stored with.
    var type: String { head.headerFields[.contentType] ?? DiskItem.unknownType }

    /// Returns all bytes.
    ///
    /// - Throws: `StorageError`.
    func bytes() throws -> Data {
        switch body {
        case .bytes(let bytes): bytes
        case .blob(let reader): try reader.readAll()
        }
    }

    /// Returns the body as the content of a response.
    func content(of item: DiskItem, type: String, version: String? = nil, fileName: String? = nil) -> FileContent {
        let version = version ?? item.version ?? ""
        let fileName = fileName ?? item.name
        return switch body {
        case .bytes(let bytes):
            FileContent(bytes: bytes, type: type, version: version, lastModified: item.modified, fileName: fileName)
        case .blob(let reader):
            FileContent(blob: reader, type: type, version: version, lastModified: item.modified, fileName: fileName)
        }
    }

    /// Returns the provenance of the body: whether it is the present version is what the API last said of the file.
    ///
    /// - Parameter result: The read of the file's metadata.
    func provenance(_ result: ReadResult) -> Provenance {
        let provenance = result.provenance
        let detail = provenance.offline ? "offline" : provenance.stale ? provenance.cacheStatus?.detail ?? "stale" : nil
        return Provenance(
            source: .upstream,
            offline: provenance.offline,
            stale: provenance.stale,
            validatedAt: head.responseTime,
            cacheStatus: CacheStatus(.hit, detail: detail)
        )
    }
}

extension Provenance {
    /// The provenance of bytes that were just fetched or made.
    static func fetched(at now: Date, stored: Bool) -> Provenance {
        Provenance(
            source: .upstream,
            validatedAt: now,
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: stored)
        )
    }
}

extension DiskItem {
    /// Media type of bytes of which nothing is known.
    static let unknownType = "application/octet-stream"

    /// Media type for browsers: what the API says, if that is a media type at all.
    var servedType: String {
        guard let type = mimeType, type.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C }),
            type.split(separator: "/").count == 2
        else { return Self.unknownType }
        return type
    }
}
