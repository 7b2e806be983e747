import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import NIOCore
import Screens
import Storage
import Upstream

/// Bodies that are stored of files: their content, previews, pages and PDFs.
struct StoredFiles: Sendable {
    let disk: Disk

    private var store: DiskStore { disk.store }

    /// Opens a stored body of the present version, and records its use. A content that is kept offline is preferred.
    ///
    /// - Returns: Nil if none is stored.
    func open(_ body: DiskStore.Body, of item: DiskItem, account: String) async throws -> StoredFile? {
        try await open(try find(body, of: item, account: account), of: item, account: account)
    }

    /// The stored bodies of a file, before one of them is opened.
    struct Bodies: Sendable {
        /// The content that is kept offline, whatever its version.
        var kept: KeptContent?
        var cached: CachedResponse?

        func hasPresent(_ item: DiskItem) -> Bool {
            cached != nil || kept.map { $0.version == item.version } ?? false
        }
    }

    /// Finds a stored body of the present version, in one transaction.
    func find(_ body: DiskStore.Body, of item: DiskItem, account: String) throws -> Bodies {
        try store.database.read { _ in
            var found = Bodies()
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
    func open(_ found: Bodies, of item: DiskItem, account: String) async throws -> StoredFile? {
        if let kept = found.kept, kept.version == item.version {
            if let file = try await open(kept, of: item, account: account) { return file }
            return try await openCached(.content, of: item, account)
        }
        return try await open(found.cached)
    }

    /// Opens a content that is kept offline.
    ///
    /// - Returns: Nil if its file is missing.
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
    func openCached(_ body: DiskStore.Body, of item: DiskItem, _ account: String) async throws -> StoredFile? {
        try await open(try store.body(body, of: item, account: account))
    }

    private func open(_ response: CachedResponse?) async throws -> StoredFile? {
        guard let response, let open = try await store.responses.openBody(of: response) else { return nil }
        disk.accessRecorder.note(response.metadata, at: disk.clock.now())
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
            at: disk.clock.now(),
            job: job
        )
    }
}

struct StoredFile {
    let head: CachedResponseHead
    let body: ResponseStore.OpenBody

    /// Version of the file that it was made of.
    var version: String? { head.headerFields[.eTag] }

    /// Media type that it was stored with.
    var type: String { head.headerFields[.contentType] ?? DiskItem.unknownType }

    func bytes() throws -> Data {
        switch body {
        case .bytes(let bytes): bytes
        case .blob(let reader): try reader.readAll()
        }
    }

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

    /// Returns the provenance of the body: freshness follows the API's last response about the file.
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
        Provenance(source: .upstream, validatedAt: now, cacheStatus: CacheStatus(.forward(.uriMiss), stored: stored))
    }
}

extension DiskItem {
    /// Media type of bytes of which nothing is known.
    static let unknownType = "application/octet-stream"

    /// Media type for browsers: that of the API if it is well-formed, else ``unknownType``.
    var servedType: String {
        guard let type = mimeType, type.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C }),
            type.split(separator: "/").count == 2
        else { return Self.unknownType }
        return type
    }

    /// Returns a media type as browsers get it. Text without a charset is declared as UTF-8, as most is; browsers
    /// would take it for windows-1252. HTML, XML and CSS can name theirs themselves, which a parameter would overrule.
    static func shownType(_ type: String) -> String {
        let essence = ParameterizedValue.essence(of: type)
        guard essence.hasPrefix("text/"), !["text/html", "text/xml", "text/css"].contains(essence), !type.contains(";")
        else { return type }
        return "\(type); charset=utf-8"
    }
}
