package import Cluster
package import Concurrency
package import Foundation
package import HTTP
package import HTTPTypes
import Hummingbird
import NIOCore
package import Storage
import Synchronization
import Upstream

/// A file as a response's body: bytes of a known length and version that are read as the client takes them.
package struct FileContent: Sendable {
    /// How a browser treats it (RFC 6266 §4.2).
    package enum Disposition: String, Sendable {
        /// The browser shows it.
        case inline
        /// The browser saves it.
        case attachment
    }

    package var type: String
    /// Number of bytes.
    package var length: Int
    /// Identifies this version of the bytes, without quotes: printable ASCII except `"`. It becomes a strong entity tag
    /// (RFC 9110 §8.8.3).
    package var version: String
    /// When the bytes last changed, if that is known.
    package var lastModified: Date?
    package var fileName: String?
    package var disposition: Disposition
    /// Reads the bytes in a range, in parts of moderate size.
    package var parts: @Sendable (Range<Int>) throws -> ByteStream

    package init(
        type: String,
        length: Int,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil,
        disposition: Disposition = .inline,
        parts: @escaping @Sendable (Range<Int>) throws -> ByteStream
    ) {
        self.type = type
        self.length = length
        self.version = version
        self.lastModified = lastModified
        self.fileName = fileName
        self.disposition = disposition
        self.parts = parts
    }

    var entityTag: String { "\"\(version)\"" }
}

extension FileContent {
    /// Serves a stored blob.
    package init(
        blob: BlobReader,
        type: String,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil
    ) {
        let length = blob.blob.length
        self.init(type: type, length: length, version: version, lastModified: lastModified, fileName: fileName) {
            ByteStream(blob, range: $0)
        }
    }

    /// Serves a file that a row names.
    package init(
        _ content: UserDatabase.Content,
        of blob: Blob,
        type: String,
        version: String,
        fileName: String? = nil,
        disposition: Disposition = .inline
    ) {
        switch content {
        case .file(let reader): self.init(blob: reader, type: type, version: version, fileName: fileName)
        case .parts(let parts):
            self.init(type: type, length: blob.length, version: version, fileName: fileName, parts: parts)
        }
        self.disposition = disposition
    }

    /// Serves bytes in memory.
    package init(
        bytes: Data,
        type: String,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil,
        disposition: Disposition = .inline
    ) {
        let buffer = ByteBuffer(bytes: bytes)
        self.init(
            type: type,
            length: bytes.count,
            version: version,
            lastModified: lastModified,
            fileName: fileName,
            disposition: disposition
        ) { range in
            ByteStream(buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer())
        }
    }
}

extension ScreenResponse {
    /// Responds with a file whose availability is known only after its bytes were requested. `open` is called once the
    /// range is known and before the response begins, so that its failure is a problem and not a truncated response. It
    /// is not called if no body is sent.
    ///
    /// - Throws: ``Problem``, 416 for a range that the file does not have; errors of `open`.
    package static func content(
        _ content: FileContent,
        to request: ScreenRequest,
        provenance: Provenance? = nil,
        now: Date,
        headerFields: HTTPFields = [:],
        open: (Range<Int>) async throws -> ByteStream
    ) async throws -> ScreenResponse {
        let asked = Mutex<Range<Int>?>(nil)
        var noted = content
        noted.parts = { range in
            asked.withLock { $0 = range }
            return ByteStream(ByteBuffer())
        }
        var response = try ScreenResponse.content(
            noted,
            to: request,
            provenance: provenance,
            now: now,
            headerFields: headerFields
        )
        guard let range = asked.withLock({ $0 }), !request.isHead else { return response }
        let parts = try await open(range)
        response.body = .stream(type: content.type, Self.body(parts, length: range.count))
        return response
    }

    /// Responds with a file, or the part of it that the request's `Range` asks for (RFC 9110 §14): 206, or 416 with the
    /// length. Conditional requests are evaluated here, because the entity tag is the file's own version, not a hash of
    /// bytes that have not been read.
    ///
    /// - Parameter provenance: provenance of data from an upstream; nil for Larder's own data
    /// - Throws: ``Problem``, 416 for a range that the file does not have; errors of the source of its bytes.
    package static func content(
        _ content: FileContent,
        to request: ScreenRequest,
        provenance: Provenance? = nil,
        now: Date,
        headerFields: HTTPFields = [:]
    ) throws -> ScreenResponse {
        var fields = headerFields
        fields[.eTag] = content.entityTag
        fields[.lastModified] = content.lastModified.map { HTTPDate.format($0) }
        fields[.acceptRanges] = "bytes"
        let disposition = try request.query.disposition() ?? content.disposition
        fields[.contentDisposition] = ContentDisposition.value(disposition.rawValue, fileName: content.fileName)
        // A foreign document that a browser shows must not have the rights of this origin.
        fields[.contentSecurityPolicy] = "sandbox"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "private, no-cache" }
        fields.vary(on: .authorization)
        fields.vary(on: .cookie)
        if let provenance { fields.add(provenance, now: now) }
        if EntityTag.matches(request.headerFields[values: .ifNoneMatch], content.entityTag) {
            return ScreenResponse(status: .notModified, headerFields: fields, body: .none)
        }
        let allowsRange = request.allowsRange(of: content, now: now)
        switch allowsRange ? ByteRange(request.headerFields, length: content.length) : .whole {
        case .whole:
            return try part(0..<content.length, of: content, status: .ok, fields)
        case .part(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(content.length)"
            return try part(Range(range), of: content, status: .partialContent, fields)
        case .notSatisfiable:
            throw Problem(
                .badRange,
                "The file has \(content.length) bytes.",
                headerFields: [.contentRange: "bytes */\(content.length)"]
            )
        }
    }

    private static func part(
        _ range: Range<Int>,
        of content: FileContent,
        status: HTTPResponse.Status,
        _ fields: HTTPFields
    ) throws -> ScreenResponse {
        let body = body(try content.parts(range), length: range.count)
        return ScreenResponse(
            status: status,
            headerFields: fields,
            body: .stream(type: content.type, body),
            hasValidator: false
        )
    }

    private static func body(_ parts: ByteStream, length: Int) -> ResponseBody {
        ResponseBody(contentLength: length) { writer in
            for try await part in parts { try await writer.write(part) }
            try await writer.finish(nil)
        }
    }
}

extension ScreenRequest {
    /// Whether `If-Range` permits a part: a range of another version than the client has parts of would mix versions
    /// (RFC 9110 §13.1.5).
    fileprivate func allowsRange(of content: FileContent, now: Date) -> Bool {
        Preconditions.allowsRange(
            headerFields,
            tag: EntityTag(content.entityTag),
            // As the field is written: in whole seconds.
            lastModified: content.lastModified.map {
                Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
            },
            // SRV-06: the date of a file counts at any time, also within the second of its modification.
            date: .distantFuture,
            now: now
        )
    }
}

/// Media types that Larder writes itself.
package enum MediaType {
    /// Screens.
    package static let json = "application/json; charset=utf-8"
    /// Errors (RFC 9457 §3).
    package static let problem = "application/problem+json; charset=utf-8"
    package static let text = "text/plain; charset=utf-8"
    /// YAML (RFC 9512).
    package static let yaml = "application/yaml; charset=utf-8"
    /// Server-sent events (HTML Living Standard §9.2).
    package static let events = "text/event-stream; charset=utf-8"
    /// Prometheus text exposition format 0.0.4.
    package static let metrics = "text/plain; version=0.0.4; charset=utf-8"
    static let openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Returns whether gzip makes bodies of this type smaller; pictures and archives are compressed already.
    static func isCompressible(_ type: String) -> Bool {
        let essence = ParameterizedValue.essence(of: type)
        return essence.hasPrefix("text/") || essence.hasSuffix("json") || essence.hasSuffix("xml")
            || essence.hasSuffix("yaml") || essence == "application/javascript"
    }
}
