/// What the service takes a file for, by the end of its name.
struct DiskFileType: Sendable, Equatable, Codable {
    /// Nil if the service says none.
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

    /// Every documented media type.
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
