import Foundation
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import Screens
import Storage
import Upstream

extension DiskService {
    /// `GET /v1/disk/file/content`: the bytes as they are, or a part of them; from the store where the present version
    /// is there, else through from the upstream, and into the store if all of it passes.
    @Sendable func content(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let account = try await account(of: request)
        let cachePolicy = try request.cachePolicy()
        let (row, reading) = try await fileItem(path, account, cachePolicy)
        let item = row.item
        if let (stored, type) = try await openStored(.content, of: item, account.id) {
            let provenance = Self.provenance(ofStored: stored.head.responseTime, reading)
            return try .content(try file(item, stored, type), to: request, provenance: provenance, now: clock.now())
        }
        guard cachePolicy != .onlyIfCached else { throw UpstreamFailure(.notStored, of: api.upstream) }
        guard !reading.provenance.offline else { throw UpstreamFailure(.unreachable(.network), of: api.upstream) }
        guard let size = item.size, let version = item.version else {
            throw UpstreamFailure(.badResponse(status: .ok, reason: "a file without a size"), of: api.upstream)
        }
        // Nothing is fetched for HEAD.
        let isKept = !request.isHead && !request.headerFields.contains(.range) && options.budget.admits(size)
        let provenance = Provenance(
            source: .upstream,
            validatedAt: clock.now(),
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: isKept)
        )
        let unread = FileContent(
            type: Self.type(of: item),
            length: size,
            version: version,
            lastModified: item.modified,
            fileName: item.name
        ) { _ in
            ByteStream(ByteBuffer())
        }
        return try await .content(unread, to: request, provenance: provenance, now: clock.now()) { range in
            guard range.count == size else { return try await openUpstream(item, range, account.id) }
            return try await keeping(item, size: size, account)
        }
    }

    /// The account of stored bytes: whether they are the present version is what the upstream last said of the file.
    static func provenance(ofStored fetchedAt: Date, _ reading: ReadResult) -> Provenance {
        let provenance = reading.provenance
        let detail = provenance.offline ? "offline" : provenance.stale ? provenance.cacheStatus?.detail ?? "stale" : nil
        return Provenance(
            source: .cache,
            offline: provenance.offline,
            stale: provenance.stale,
            validatedAt: fetchedAt,
            cacheStatus: CacheStatus(.hit, detail: detail)
        )
    }

    /// What a browser is told the bytes are: what the upstream says, where that is a media type at all.
    static func type(of item: DiskItem) -> String {
        guard let type = item.mimeType, type.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x2C }),
            type.split(separator: "/").count == 2
        else {
            return "application/octet-stream"
        }
        return type
    }

    /// A stored body of the present version, opened; its use is noted.
    func openStored(_ body: DiskStore.Body, of item: DiskItem, _ account: String) async throws -> (
        StoredFile, type: String
    )? {
        guard let response = try store.body(body, of: item, account: account),
            let open = try await store.responses.openBody(of: response)
        else { return nil }
        accessRecorder.note(response, at: clock.now())
        return (
            StoredFile(head: response.head, body: open),
            response.head.headerFields[.contentType] ?? "application/octet-stream"
        )
    }

    /// An opened body with what is known of it.
    struct StoredFile {
        let head: CachedResponseHead
        let body: ResponseStore.OpenBody
    }

    func file(_ item: DiskItem, _ stored: StoredFile, _ type: String, version: String? = nil, fileName: String? = nil)
        throws -> FileContent
    {
        let version = version ?? item.version ?? ""
        let fileName = fileName ?? item.name
        return switch stored.body {
        case .bytes(let bytes):
            FileContent(bytes: bytes, type: type, version: version, lastModified: item.modified, fileName: fileName)
        case .blob(let reader):
            FileContent(blob: reader, type: type, version: version, lastModified: item.modified, fileName: fileName)
        }
    }

    /// The whole from the upstream, kept while it passes if there is room for it.
    func keeping(_ item: DiskItem, size: Int, _ account: DiskAccount, job: String? = nil) async throws -> ByteStream {
        let parts = try await openUpstream(item, 0..<size, account.id)
        let keeper = FileKeeper(item, size: size, keeps: options.budget.admits(size), blobs: store.database.blobs)
        return keeper.keeping(parts) { body in
            // Where it cannot be kept, it is passed on all the same; a download says so.
            try await store.save(
                body,
                as: .content,
                of: item,
                type: Self.type(of: item),
                account: account.id,
                epoch: account.epoch,
                at: clock.now(),
                job: job
            )
        } unkept: { error in
            if job != nil { throw error }
            logger.warning("a file could not be kept", metadata: ["error": "\(error)"])
        }
    }

    /// Bytes of a file from the upstream, by a link that is used once and forgotten. A link that does not work (any
    /// more) is asked for once again.
    func openUpstream(_ item: DiskItem, _ range: Range<Int>, _ account: String) async throws -> ByteStream {
        guard !range.isEmpty else { return ByteStream(ByteBuffer()) }
        do {
            var status = HTTPResponse.Status.ok
            for _ in 0..<2 {
                let link = try await authorized(account) { try await api.downloadLink(item.path, $0) }
                var fields: HTTPFields = [:]
                if range.lowerBound > 0 || range.upperBound < item.size ?? 0 {
                    fields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
                }
                let response = try await api.upstream.stream(
                    StreamedRequest(method: .get, url: link, headerFields: fields)
                )
                status = response.status
                switch status.code {
                case 200: return FileParts.stream(response.body, skipping: range.lowerBound, count: range.count)
                case 206 where response.headerFields[.contentRange]?.hasPrefix("bytes \(range.lowerBound)-") == true:
                    return FileParts.stream(response.body, skipping: 0, count: range.count)
                case 500..., 429: continue
                case 400..<500: continue
                default: throw UpstreamError.badResponse(status: status, reason: "status \(status.code) for a file")
                }
            }
            throw UpstreamError.badResponse(status: status, reason: "links to the file do not work")
        } catch {
            throw translated(error)
        }
    }
}
