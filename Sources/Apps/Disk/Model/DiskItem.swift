import Crypto
import Foundation

/// A file or folder of an account, as the app keeps it: what its screens show, and what names its content. No link of
/// the upstream is in it.
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
    var resourceID: String?
    /// Where everybody can see it; nil where it is not published, or the response did not say.
    var publicURL: String?
    var isPublished = false
    /// Where something in the trash came from.
    var origin: String?
    /// When it went to the trash.
    var deleted: Date?

    init(path: DiskPath, kind: Kind, name: String? = nil) {
        self.path = path
        self.kind = kind
        self.name = name ?? path.name
    }

    /// What names this version of its bytes: the checksum, else size and time. Nil where nothing does: then no stored
    /// copy can be said to be current.
    var version: String? {
        guard kind == .file else { return nil }
        if let md5, !md5.isEmpty, md5.utf8.allSatisfy(Self.isTokenCharacter) { return md5 }
        guard let size, let modified else { return nil }
        return "\(size)-\(Int(modified.timeIntervalSince1970))"
    }

    /// What names this state of the file's or folder's screen: a digest of all that the upstream says of it.
    var screenVersion: String {
        let dates = [created, modified, deleted].map { $0.map { String($0.diskMilliseconds) } }
        let texts = [path.text, kind.rawValue, name, mediaType, mimeType, md5, resourceID, publicURL, origin]
        let fields = texts + dates + [size.map(String.init), isPublished ? "published" : nil]
        // Lengths keep neighbours apart.
        let description = fields.map { $0.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined()
        return SHA256.hash(data: Data(description.utf8)).prefix(9).map { Self.hexadecimal($0) }.joined()
    }

    /// The versions that an entity tag of it may name: that of its screen and that of its content.
    var versions: Set<String> { Set([screenVersion, version].compactMap { $0 }) }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// What follows the last dot of the name, in lower case; empty where nothing does.
    var fileExtension: String { Self.fileExtension(of: name) }

    static func fileExtension(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}

extension DiskItem {
    /// What the app can show a file with.
    enum Viewer: String, Sendable {
        case image, pdf, office, unsupported
    }

    /// By the extension of the name, as the original app does it.
    var viewer: Viewer? {
        guard kind == .file else { return nil }
        switch fileExtension {
        case "jpg", "jpeg", "png": return .image
        case "pdf": return .pdf
        case "doc", "docx", "txt", "xls", "xlsx", "ppt", "pptx": return .office
        default: return .unsupported
        }
    }

    /// The icon beside the name.
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

    /// Whether the upstream makes a small picture of it that is worth showing in a list.
    var hasPreview: Bool { kind == .file && icon == "image" }
}
