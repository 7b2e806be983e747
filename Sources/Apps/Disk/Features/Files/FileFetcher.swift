import Concurrency
import Crypto
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
    /// The bytes are not those of the announced version.
    struct WrongContent: Error {}
    struct WrongLength: Error {}
    /// It was not stored: the account was logged out, or the file has changed.
    private struct NotStored: Error {}

    let disk: Disk

    /// Returns the whole content of a file, which is stored while it passes if there is room for it: whole and with the
    /// right checksum, or not at all. A wrong length or checksum ends it before its last part.
    func whole(of item: DiskItem, size: Int, for account: DiskAccount) async throws -> ByteStream {
        let parts = try await part(0..<size, of: item, for: account)
        return CachingBodyTee(
            to: disk.store.database.blobs,
            expectedLength: size,
            limit: disk.budget.lowWaterMark,
            // Some checksums are of another kind: then only the length is checked.
            checksum: item.md5.flatMap { BodyChecksum(md5: $0) }
        ) { [files = disk.files] body in
            let isStored = try await files.save(body, as: .content, of: item, type: item.servedType, for: account)
            guard isStored else { throw NotStored() }
        }.passing(parts) { [logger = disk.logger] outcome in
            switch outcome {
            case .stored, .tooLarge, .brokenOff: break
            case .wrongLength: throw WrongLength()
            case .wrongChecksum: throw WrongContent()
            case .notStored(let error):
                // Asked of the task, not of the error: see the note in CachingBodyTee.
                if Task.isCancelled { throw error }
                // The body is passed on nevertheless.
                logger.warning("a file could not be kept", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Requests the missing bytes of a content.
    ///
    /// - Returns: The bytes, and the partial content to append them to: an empty one if the response begins at the
    ///   first byte.
    func missing(behind received: PartialContent, of item: DiskItem, size: Int, for account: DiskAccount) async throws
        -> (ByteStream, PartialContent)
    {
        let range = received.received..<size
        let response = try await open(range, of: item, for: account, ifRange: received.tag)
        var beginning = received
        if response.firstByte < range.lowerBound {
            beginning = try PartialContent(version: received.version, in: disk.store.database.blobs)
        }
        beginning.tag = response.tag
        return (response.body.part(skipping: 0, count: size - beginning.received), beginning)
    }

    /// Returns a range of a file's content, by a link that is used once and not stored. A link that does not work is
    /// replaced once.
    func part(_ range: Range<Int>, of item: DiskItem, for account: DiskAccount) async throws -> ByteStream {
        guard !range.isEmpty else { return ByteStream(ByteBuffer()) }
        let use = disk.load.begin()
        let response = try await open(range, of: item, for: account)
        let parts = response.body.part(skipping: range.lowerBound - response.firstByte, count: range.count)
        return ByteStream {
            let iterator = parts.makeAsyncIterator()
            return {
                defer { withExtendedLifetime(use) {} }
                return try await iterator.next()
            }
        }
    }

    struct OpenResponse: Sendable {
        /// Position in the file of its first byte: that of the range, or 0 if the whole file was sent.
        let firstByte: Int
        /// Strong entity tag of the file, if it has one.
        let tag: String?
        let body: ByteStream
    }

    /// Requests a range of a file's content, by a link that is used once and not stored. A link that does not work is
    /// replaced once.
    ///
    /// - Parameters:
    ///   - range: Not empty.
    ///   - tag: Entity tag of the bytes already received: if the file has another one, the whole is sent (RFC 9110
    ///     §13.1.5).
    func open(
        _ range: Range<Int>,
        of item: DiskItem,
        for account: DiskAccount,
        ifRange tag: String? = nil
    ) async throws -> OpenResponse {
        do {
            var status = HTTPResponse.Status.ok
            for _ in 0..<2 {
                let link = try await disk.tokens.authorized(account) {
                    try await disk.client.downloadLink(item.storedPath, $0)
                }
                let response = try await disk.client.upstream.stream(Self.request(link, range, of: item, ifRange: tag))
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
            if isGone, try disk.store.isYoung(item.storedPath, account: account.id) { throw disk.client.notShownYet }
            throw disk.client.translated(error)
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

// The content of files for child processes, which read files by their path.
extension FileFetcher {
    /// Lends a file's content as a file. It is fetched into the store before if it is not there.
    ///
    /// - Parameter result: The read of the file's metadata.
    func withContent<Value>(
        of item: DiskItem,
        for account: DiskAccount,
        _ result: ReadResult,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        if try await disk.files.open(.content, of: item, account: account.id) == nil {
            guard !result.provenance.offline else { throw disk.client.unreachable }
            try await fetch(item, for: account)
        }
        guard let stored = try await disk.files.open(.content, of: item, account: account.id) else {
            throw Problem.fileChanges
        }
        return try await withFile(stored.body, body)
    }

    /// Lends a copy of a stored body under a path that a child process can open: in the data directory, readable by its
    /// owner only, until `body` returns.
    func withFile<Value>(_ stored: ResponseStore.OpenBody, _ body: (URL) async throws -> Value) async throws -> Value {
        let file = try disk.scratch.file()
        switch stored {
        case .bytes(let bytes): try file.append(bytes)
        case .blob(let reader):
            for try await part in ByteStream(reader, range: 0..<reader.blob.length) {
                try part.withUnsafeReadableBytes { try file.append($0) }
            }
        }
        defer { withExtendedLifetime(file) {} }
        return try await body(URL(filePath: file.place.path))
    }

    private func fetch(_ item: DiskItem, for account: DiskAccount) async throws {
        guard let size = item.size, item.version != nil else { throw disk.client.sizeMissing }
        guard disk.budget.admits(size) else {
            throw Problem(.tooLarge, "The file is larger than cache.budget_mb has room for.")
        }
        do {
            for try await _ in try await whole(of: item, size: size, for: account) {}
        } catch let problem where problem is Problem || problem is UpstreamFailure {
            throw problem
        } catch {
            try Task.checkCancellation()
            throw disk.client.failure(.badResponse(status: .ok, reason: "the file broke off"))
        }
    }
}

extension Problem {
    /// 503: the file was replaced again while it was read.
    static let fileChanges = Problem(.overloaded, "The file changes while it is read. Ask again.")
}

/// The beginning of a content that is received, with its checksums so far. It survives a broken connection, but not the
/// end of the process: without a row it leaves nothing.
struct PartialContent: Sendable {
    /// Version of the file that it belongs to.
    let version: String
    /// Entity tag of its response, for `If-Range`.
    var tag: String?
    private(set) var received = 0
    private let writer: BlobWriter
    private var md5 = Insecure.MD5()
    private var sha256 = SHA256()

    init(version: String, in blobs: BlobStore) throws {
        self.version = version
        writer = try blobs.writer()
    }

    /// - Throws: `StorageError`; nothing can be appended afterwards.
    mutating func append(_ part: ByteBuffer) throws {
        try part.withUnsafeReadableBytes { bytes in
            try writer.append(bytes)
            md5.update(bufferPointer: bytes)
            sha256.update(bufferPointer: bytes)
        }
        received += part.readableBytes
    }

    /// - Returns: The content, which is removed again unless a row names it.
    /// - Throws: `FileFetcher.WrongContent` if it has another checksum than the API gives; `StorageError`.
    func finish(as item: DiskItem) throws -> Blob {
        // Checksums of other kinds cannot be compared: then only the length is checked.
        if let md5 = item.md5, let checksum = BodyChecksum(md5: md5), !checksum.matches(self.md5) {
            throw FileFetcher.WrongContent()
        }
        if let expected = item.sha256?.lowercased(), expected.utf8.count == 64,
            expected != sha256.finalize().hexadecimal
        {
            throw FileFetcher.WrongContent()
        }
        return try writer.finish(expectedLength: item.size)
    }

    /// Returns the length and the checksums of the received bytes, as those of an upload that is kept here.
    func bytes(at now: Date) -> QueuedWrite.Bytes {
        let (md5, sha256) = (md5.finalize().hexadecimal, sha256.finalize().hexadecimal)
        return QueuedWrite.Bytes(length: received, md5: md5, sha256: sha256, at: now)
    }

    func finish(length: Int?) throws -> Blob { try writer.finish(expectedLength: length) }
}

extension ByteStream {
    /// Skips `skipping` bytes and returns the next `count`. Later bytes are not read.
    ///
    /// Reading throws ``FileFetcher/WrongLength`` if the body ends before.
    func part(skipping: Int, count: Int) -> ByteStream {
        ByteStream {
            let iterator = self.makeAsyncIterator()
            var toSkip = skipping
            var left = count
            return {
                while left > 0 {
                    guard var part = try await iterator.next() else { throw FileFetcher.WrongLength() }
                    let skipped = Swift.min(toSkip, part.readableBytes)
                    part.moveReaderIndex(forwardBy: skipped)
                    toSkip -= skipped
                    guard part.readableBytes > 0 else { continue }
                    let taken = part.readSlice(length: Swift.min(left, part.readableBytes)) ?? part
                    left -= taken.readableBytes
                    return taken
                }
                return nil
            }
        }
    }
}
