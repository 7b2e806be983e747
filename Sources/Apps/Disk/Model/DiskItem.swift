import Crypto
import Foundation
import HTTP
import Storage

/// A file or folder of an account as the app stores it: the fields that its screens show, and those that identify its
/// content. Links of the API, which open files to anyone, are not stored.
struct DiskItem: Sendable, Equatable {
    enum Kind: String, Sendable {
        case file, dir
    }

    var path: DiskPath
    var kind: Kind
    var name: String
    /// Bytes; nil for folders.
    var size: Int?
    var created: Date?
    var modified: Date?
    var mediaType: String?
    var mimeType: String?
    var md5: String?
    var sha256: String?
    var resourceID: String?
    /// Public address; nil if it is not published, or the response did not contain it.
    var publicURL: String?
    var isPublished = false
    /// When its public address ends, as far as that is known.
    var linkEnd = LinkEnd.unspecified
    /// Original path of an item in the trash.
    var origin: String?
    /// When it was moved to the trash.
    var deleted: Date?
    /// Where the API has it, if a write that waits gives it another path. Not stored.
    var source: DiskPath?
    /// The upload that waits with its content. Not stored.
    var queuedUpload: String?

    /// The path that its content is stored and requested under.
    var storedPath: DiskPath { source ?? path }

    init(path: DiskPath, kind: Kind, name: String? = nil) {
        self.path = path
        self.kind = kind
        self.name = name ?? path.name
    }

    /// Identifies this version of its content: the checksum, else size and time. Nil if neither is known: then no
    /// stored copy can be current.
    var version: String? {
        guard kind == .file else { return nil }
        if let md5, !md5.isEmpty, ASCIISet.alphanumerics.containsAll(of: md5) { return md5 }
        guard let size, let modified else { return nil }
        return "\(size)-\(Int(modified.timeIntervalSince1970))"
    }

    /// Identifies this version of its screen: a digest of all that the API says of it.
    var screenVersion: String {
        let dates = [created, modified, deleted, linkEnd.date].map { $0.map { String($0.millisecondsSince1970) } }
        let texts = [path.text, kind.rawValue, name, mediaType, mimeType, md5, resourceID, publicURL, origin]
        let fields = texts + dates + [size.map(String.init), isPublished ? "published" : nil]
        // Lengths keep adjacent fields apart.
        let description = fields.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined()
        return SHA256.hash(data: Data(description.utf8)).prefix(9).map { Self.hexadecimal($0) }.joined()
    }

    /// The versions that an entity tag may contain: that of its screen and that of its content.
    var versions: Set<String> { Set([screenVersion, version].compactMap { $0 }) }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }

    /// Extension of the name in lower case; empty if there is none.
    var fileExtension: String { Self.fileExtension(of: name) }

    static func fileExtension(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return "" }
        return name[name.utf8.index(after: dot)...].lowercased()
    }
}

extension DiskItem {
    /// The viewer that the app shows a file with.
    enum Viewer: String, Sendable {
        case image, pdf, office, unsupported
    }

    /// The viewer by extension, as in the original app.
    var viewer: Viewer? {
        guard kind == .file else { return nil }
        switch fileExtension {
        case "jpg", "jpeg", "png": return .image
        case "pdf": return .pdf
        case "doc", "docx", "txt", "xls", "xlsx", "ppt", "pptx": return .office
        default: return .unsupported
        }
    }

    /// Name of the icon.
    var icon: String {
        guard kind == .file else { return "folder" }
        switch fileExtension {
        case "jpg", "jpeg", "png", "gif", "heic", "webp", "bmp", "tif", "tiff": return "image"
        case "pdf": return "pdf"
        case "doc", "docx", "txt": return "word"
        case "xls", "xlsx": return "excel"
        case "ppt", "pptx": return "powerpoint"
        case "svg": return "svg"
        default: return mediaType == "image" ? "image" : mediaType == "document" ? "document" : "unknown"
        }
    }

    /// Whether lists show the API's preview of it.
    var hasPreview: Bool { kind == .file && icon == "image" }
}
