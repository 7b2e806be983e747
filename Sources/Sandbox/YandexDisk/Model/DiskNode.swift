import Foundation
import JSONValues

/// A file or a folder.
struct DiskNode: Sendable, Codable {
    /// Unique among all accounts.
    let id: Int
    var parent: Int
    /// The name. In the trash it has a suffix; ``Trashed/name`` is the one that users see.
    var name: String
    /// The children of a folder; nil for a file.
    @FolderChildren var children: [NameKey: Int]?
    var content: DiskContent?
    /// The type that the service found in the content; nil if the name decides.
    var judgedType: DiskFileType?
    /// EXIF data of photos.
    var exif = JSONObject()
    var created: Date
    var modified: Date
    /// Grows with each change on the account; like the service's, in microseconds.
    var revision: Int
    /// The revision of the upload, which orders `last-uploaded`.
    var uploaded: Int
    var publication: Publication?
    var properties: Properties = .none
    var trashed: Trashed?

    private enum CodingKeys: String, CodingKey {
        case id, parent, name
        case children = "isDirectory"
        case content, judgedType, exif, created, modified, revision
        case uploaded, publication, properties, trashed
    }

    var isDirectory: Bool { children != nil }

    /// The name that users see.
    var displayName: String { trashed?.name ?? name }

    var type: DiskFileType { judgedType ?? DiskFileType(of: displayName) }

    struct Publication: Sendable, Equatable, Codable {
        var key: String
        var url: String
        var views = 0
        var settings = JSONObject()
        var revision: Int
    }

    struct Trashed: Sendable, Equatable, Codable {
        var name: String
        var origin: DiskPath
        var at: Date
    }

    /// `custom_properties`: absent until the first PATCH, then an object, or null when it has become empty.
    enum Properties: Sendable, Equatable, Codable {
        case none
        case some(JSONObject)
    }
}

/// A user of the service.
struct DiskAccount: Sendable, Equatable, Codable {
    let login: String
    let displayName: String
    let uid: String
    let country: String
    let isPaid: Bool
    let registered: Date
}

/// The children of a folder. Only their presence is encoded, because each child encodes its parent.
@propertyWrapper
struct FolderChildren: Sendable, Codable {
    var wrappedValue: [NameKey: Int]?

    init(wrappedValue: [NameKey: Int]?) { self.wrappedValue = wrappedValue }

    /// Decodes a folder without children, or a file.
    init(from decoder: any Decoder) throws { wrappedValue = try Bool(from: decoder) ? [:] : nil }

    func encode(to encoder: any Encoder) throws { try (wrappedValue != nil).encode(to: encoder) }
}

/// A path of the API: an area and the names below its root. Names are compared byte for byte; whether the service
/// normalizes Unicode is not known.
struct DiskPath: Sendable, Equatable, Codable, CustomStringConvertible {
    enum Area: String, Sendable, Codable {
        case disk
        case trash
    }

    /// The folder of the registered application, and the beginning of paths in it.
    static let (appFolder, appScheme) = (DiskPath(area: .disk, names: ["Приложения", "Larder"]), "app:/")
    /// Documented limits, in characters.
    static let longestName = 255
    static let longestPath = 32_760

    var area: Area
    var names: [String]

    init(area: Area, names: [String]) {
        self.area = area
        self.names = names
    }

    /// Parses `disk:/…`, `trash:/…`, `app:/…` or a path without a scheme. The latter belongs to `area` and must not
    /// contain a colon.
    init(_ text: String, in area: Area = .disk) throws(DiskFailure) {
        var rest = text[...]
        self.area = area
        if let scheme = [Area.disk, .trash].first(where: { text.hasPrefix("\($0.rawValue):/") }) {
            self.area = scheme
            rest = rest.dropFirst(scheme.rawValue.count + 1)
        } else if text.hasPrefix(Self.appScheme) {
            rest = rest.dropFirst(Self.appScheme.count)
            self.area = .disk
        } else if rest.contains(":") {
            throw .pathFormat
        }
        let above = text.hasPrefix(Self.appScheme) ? Self.appFolder.names : []
        names = above + rest.split(separator: "/").map(String.init)
        guard text.unicodeScalars.count <= Self.longestPath, self.area == area else { throw .pathFormat }
        for name in names
        where name == "." || name == ".." || name.unicodeScalars.count > Self.longestName || name.utf8.contains(0) {
            throw .pathFormat
        }
    }

    var name: String? { names.last }

    var parent: DiskPath { DiskPath(area: area, names: Array(names.dropLast())) }

    func appending(_ name: String) -> DiskPath { DiskPath(area: area, names: names + [name]) }

    var description: String { "\(area.rawValue):/" + names.joined(separator: "/") }
}

/// A name that is equal only to the same bytes. Strings of Swift are equal if they are canonically equivalent.
struct NameKey: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: String) { bytes = Array(name.utf8) }
}

/// The types of a file, which the service derives from its extension.
struct DiskFileType: Sendable, Equatable, Codable {
    /// Nil if the service sends none.
    let mime: String?
    /// One of the documented media types.
    let media: String

    init(mime: String?, media: String) {
        self.mime = mime
        self.media = media
    }

    init(of name: String) {
        let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        self = Self.known[ending] ?? DiskFileType(mime: "application/octet-stream", media: "unknown")
    }

    static let mediaTypes = [
        "audio", "backup", "book", "compressed", "data", "development", "diskimage", "document", "encoded",
        "executable", "flash", "font", "image", "settings",
        "spreadsheet", "text", "unknown", "video", "web",
    ]

    private static let office = "application/vnd.openxmlformats-officedocument"

    private static let known: [String: DiskFileType] = [
        "jpg": .init(mime: "image/jpeg", media: "image"), "jpeg": .init(mime: "image/jpeg", media: "image"),
        "png": .init(mime: "image/png", media: "image"),
        "gif": .init(mime: "image/gif", media: "image"), "heic": .init(mime: "image/heic", media: "image"),
        "pdf": .init(mime: "application/pdf", media: "document"),
        "doc": .init(mime: "application/msword", media: "document"),
        "docx": .init(mime: "\(office).wordprocessingml.document", media: "document"),
        "xls": .init(mime: "application/vnd.ms-excel", media: "spreadsheet"),
        "xlsx": .init(mime: "\(office).spreadsheetml.sheet", media: "spreadsheet"),
        "ppt": .init(mime: "application/vnd.ms-powerpoint", media: "document"),
        "pptx": .init(mime: "\(office).presentationml.presentation", media: "document"),
        "csv": .init(mime: "text/csv", media: "spreadsheet"),
        "txt": .init(mime: "text/plain", media: "document"), "md": .init(mime: "text/markdown", media: "text"),
        "vb": .init(mime: "text/plain", media: "text"), "swift": .init(mime: "text/x-swift", media: "development"),
        "html": .init(mime: "text/html", media: "web"), "json": .init(mime: "application/json", media: "text"),
        "zip": .init(mime: "application/zip", media: "compressed"),
        "img": .init(mime: "application/octet-stream", media: "diskimage"),
        "wav": .init(mime: "audio/x-wav", media: "audio"), "mp3": .init(mime: "audio/mpeg", media: "audio"),
        "mov": .init(mime: "video/quicktime", media: "video"), "mp4": .init(mime: "video/mp4", media: "video"),
        "bin": .init(mime: "application/octet-stream", media: "data"),
    ]
}

/// Times as the service writes them: `2024-07-10T16:47:49+00:00`, no fraction.
enum DiskTime {
    static func text(_ date: Date) -> String { String(date.formatted(.iso8601).dropLast()) + "+00:00" }
}
