import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import NIOCore
import Screens
import Storage
import Upstream

/// Fetches the content of files from the API.
struct FileFetcher: Sendable {
    let client: YandexDiskClient
    let tokens: TokenProvider
    let files: StoredFiles
    let load: ForegroundLoad
    let logger: Logger

    /// Returns the whole content of a file, which is stored while it passes if there is room for it.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func whole(of item: DiskItem, size: Int, for account: DiskAccount) async throws -> ByteStream {
        let parts = try await part(0..<size, of: item, for: account)
        let keeper = FileKeeper(
            item,
            size: size,
            limit: files.budget.lowWaterMark,
            blobs: files.store.database.blobs
        )
        return keeper.keeping(parts) { [files] body in
            try await files.save(body, as: .content, of: item, type: item.servedType, for: account)
        } unkept: { [logger] error in
            // Passed on all the same.
            logger.warning("a file could not be kept", metadata: ["error": "\(error)"])
        }
    }

    /// Requests the missing bytes of a content.
    ///
    /// - Returns: The bytes, and the partial content to append them to: an empty one if the response begins at the
    ///   first byte.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func missing(behind received: PartialContent, of item: DiskItem, size: Int, for account: DiskAccount) async throws
        -> (ByteStream, PartialContent)
    {
        let range = received.received..<size
        let response = try await open(range, of: item, for: account, ifRange: received.tag)
        var beginning = received
        if response.firstByte < range.lowerBound {
            beginning = try PartialContent(version: received.version, in: files.store.database.blobs)
        }
        beginning.tag = response.tag
        return (FileParts.stream(response.body, skipping: 0, count: size - beginning.received), beginning)
    }

    /// Returns a range of a file's content, by a link that is used once and forgotten. A link that does not work is
    /// replaced once.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func part(_ range: Range<Int>, of item: DiskItem, for account: DiskAccount) async throws -> ByteStream {
        guard !range.isEmpty else { return ByteStream(ByteBuffer()) }
        let use = load.begin()
        let response = try await open(range, of: item, for: account)
        let parts = FileParts.stream(
            response.body,
            skipping: range.lowerBound - response.firstByte,
            count: range.count
        )
        return ByteStream {
            let iterator = parts.makeAsyncIterator()
            return {
                defer { withExtendedLifetime(use) {} }
                return try await iterator.next()
            }
        }
    }

    /// A response with bytes of a file.
    struct OpenResponse: Sendable {
        /// Position in the file of its first byte: that of the range, or 0 if the whole file was sent.
        let firstByte: Int
        /// Strong entity tag of the file, if it has one.
        let tag: String?
        let body: ByteStream
    }

    /// Requests a range of a file's content, by a link that is used once and forgotten. A link that does not work is
    /// replaced once.
    ///
    /// - Parameters:
    ///   - range: Not empty.
    ///   - tag: Entity tag of the bytes already received: if the file has another one, the whole is sent (RFC 9110
    ///     §13.1.5).
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func open(
        _ range: Range<Int>,
        of item: DiskItem,
        for account: DiskAccount,
        ifRange tag: String? = nil
    ) async throws -> OpenResponse {
        do {
            var status = HTTPResponse.Status.ok
            for _ in 0..<2 {
                let link = try await tokens.authorized(account) { try await client.downloadLink(item.storedPath, $0) }
                let response = try await client.upstream.stream(Self.request(link, range, of: item, ifRange: tag))
                status = response.status
                if status.code >= 400 { continue }
                guard let first = Self.firstByte(of: response, range, item) else {
                    throw UpstreamError.badResponse(status: status, reason: "not this version of the file")
                }
                let present = response.headerFields[.eTag].flatMap { $0.hasPrefix("\"") ? $0 : nil }
                return OpenResponse(firstByte: first, tag: present, body: response.body)
            }
            throw UpstreamError.badResponse(status: status, reason: "links to the file do not work")
        } catch {
            let isGone = DiskRefusal(error)?.isGone == true
            if isGone, try files.store.isYoung(item.storedPath, account: account.id) { throw client.notShownYet }
            throw client.translated(error)
        }
    }

    /// Returns the position in the file of a response's first byte; nil if it is no response with this range of this
    /// version, as far as its head tells. A range has no checksum.
    private static func firstByte(of response: StreamedResponse, _ range: Range<Int>, _ item: DiskItem) -> Int? {
        let fields = response.headerFields
        let isPage = fields[.contentType].map { ParameterizedValue.essence(of: $0) } == "text/html"
        if isPage, let type = item.mimeType, !type.hasPrefix("text/"), !type.contains("html") { return nil }
        switch response.status.code {
        case 200:
            let length = fields.declaredContentLength
            return length == nil || length == item.size ? 0 : nil
        case 206:
            let part = "bytes \(range.lowerBound)-\(range.upperBound - 1)/"
            guard let field = fields[.contentRange], field.hasPrefix(part) else { return nil }
            let total = field.dropFirst(part.count)
            return total == "*" || Int(total) == item.size ? range.lowerBound : nil
        default: return nil
        }
    }

    private static func request(_ link: String, _ range: Range<Int>, of item: DiskItem, ifRange tag: String?)
        -> StreamedRequest
    {
        var fields: HTTPFields = [:]
        if range.lowerBound > 0 || range.upperBound < item.size ?? 0 {
            fields[.range] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            fields[.ifRange] = tag
        }
        return StreamedRequest(method: .get, url: link, headerFields: fields)
    }
}
