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
        return SHA256.hash(data: Data(description.utf8)).prefix(9).hexadecimal
    }

    /// The versions that an entity tag may contain: that of its screen and that of its content.
    var versions: Set<String> { Set([screenVersion, version].compactMap { $0 }) }

    /// Identifies it on screens: as the API does, so that it stays the same under another path, else by its path.
    var identity: String { resourceID ?? path.text }

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
        case image, pdf, office, text, audio, video, unsupported
    }

    /// The viewer by extension: those of the original app, and others that a front end has without a program.
    var viewer: Viewer? {
        guard kind == .file else { return nil }
        switch fileExtension {
        case "jpg", "jpeg", "png", "gif", "webp", "svg": return .image
        case "pdf": return .pdf
        case "doc", "docx", "xls", "xlsx", "ppt", "pptx": return .office
        case "txt", "md", "csv", "json", "log", "xml", "yaml", "yml": return .text
        case "mp3", "m4a", "ogg", "oga", "wav", "flac": return .audio
        case "mp4", "m4v", "mov", "webm", "ogv": return .video
        default: return .unsupported
        }
    }

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

/// The time from which a public address is no longer valid.
enum LinkEnd: Sendable, Equatable {
    /// Not said: of an item, because lists and metadata of the API do not tell it; of a wish, because any will do.
    case unspecified
    /// The address has no end.
    case never
    /// A time in whole seconds, as the API has it.
    case at(Date)

    var date: Date? { if case .at(let date) = self { date } else { nil } }

    /// Returns the end that a link still has to get to be as wished; nil if it is. If no end is wished, a link that has
    /// ended is to have none any more.
    func missing(from present: LinkEnd, at now: Date) -> LinkEnd? {
        switch (self, present) {
        case (.unspecified, .at(let end)) where end <= now: .never
        case (.unspecified, _): nil
        default: self == present ? nil : self
        }
    }
}

// Its column: milliseconds since 1970, 0 for none, NULL if it is not known.
extension LinkEnd {
    init(milliseconds: Int64?) {
        switch milliseconds {
        case nil: self = .unspecified
        case 0?: self = .never
        case let time?: self = .at(Date(millisecondsSince1970: time))
        }
    }

    var milliseconds: Int64? {
        switch self {
        case .unspecified: nil
        case .never: 0
        case .at(let date): date.millisecondsSince1970
        }
    }
}

extension DiskItem {
    mutating func unpublish() {
        isPublished = false
        publicURL = nil
        linkEnd = .unspecified
    }

    /// Returns the item with the end of its link from an earlier state of the same link, if this response of the API
    /// lacks it.
    func keepingLinkEnd(of earlier: DiskItem?) -> DiskItem {
        guard linkEnd == .unspecified, isPublished, let earlier, earlier.isPublished else { return self }
        guard publicURL == nil || earlier.publicURL == nil || publicURL == earlier.publicURL else { return self }
        var item = self
        item.linkEnd = earlier.linkEnd
        return item
    }
}

enum ListedRow: Sendable, Equatable {
    case item(DiskItem)
    /// An item that the app does not show, such as one with a path of another scheme.
    case elsewhere
    /// Not a row of the API.
    case unreadable

    /// Key of its position in a stored page: the path of an item, or a text that is none.
    var key: String {
        switch self {
        case .item(let item): item.path.text
        case .elsewhere: ""
        case .unreadable: "?"
        }
    }
}

extension Sequence<ListedRow> {
    /// The items that are shown.
    var items: [DiskItem] {
        compactMap { if case .item(let item) = $0 { item } else { nil } }
    }

    /// The rows with each item once: another row of the same path keeps its position only.
    var uniqueByPath: [ListedRow] {
        var seen = Set<DiskPath>()
        return map { row in
            guard case .item(let item) = row, !seen.insert(item.path).inserted else { return row }
            return .elsewhere
        }
    }
}

/// The types that the API will assign to a file that it does not have yet, by its extension.
enum FileTypes {
    private static let types: [String: (media: String, mime: String)] = [
        "jpg": ("image", "image/jpeg"), "jpeg": ("image", "image/jpeg"), "png": ("image", "image/png"),
        "gif": ("image", "image/gif"), "webp": ("image", "image/webp"), "bmp": ("image", "image/bmp"),
        "heic": ("image", "image/heic"), "tif": ("image", "image/tiff"), "tiff": ("image", "image/tiff"),
        "pdf": ("document", "application/pdf"), "txt": ("document", "text/plain"), "md": ("text", "text/markdown"),
        "doc": ("document", "application/msword"),
        "docx": ("document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        "ppt": ("document", "application/vnd.ms-powerpoint"),
        "pptx": ("document", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        "xls": ("spreadsheet", "application/vnd.ms-excel"),
        "xlsx": ("spreadsheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        "csv": ("spreadsheet", "text/csv"), "json": ("text", "application/json"), "svg": ("image", "image/svg+xml"),
        "m4a": ("audio", "audio/mp4"), "ogg": ("audio", "audio/ogg"), "wav": ("audio", "audio/x-wav"),
        "webm": ("video", "video/webm"), "mov": ("video", "video/quicktime"), "zip": ("compressed", "application/zip"),
        "mp3": ("audio", "audio/mpeg"), "mp4": ("video", "video/mp4"), "html": ("web", "text/html"),
    ]

    /// Returns media type and MIME type of an extension in lower case; nil if they are not known.
    static func types(of fileExtension: String) -> (media: String?, mime: String?) {
        types[fileExtension].map { ($0.media, $0.mime) } ?? (nil, nil)
    }
}
