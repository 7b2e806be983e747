import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

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
