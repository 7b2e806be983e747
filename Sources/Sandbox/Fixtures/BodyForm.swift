import HTTPTypes

/// What a body is, as far as it matters for its file.
enum BodyForm: Sendable {
    case json
    /// A form, a page, XML: its members and fields have names.
    case data
    case text
    case other

    /// Reads `Content-Type` and `Content-Disposition`.
    init(_ fields: HTTPFields) {
        let type = fields[.contentType]?.split(separator: ";").first?.lowercased().trimmed ?? ""
        let isFile = fields[.contentDisposition]?.lowercased().hasPrefix("attachment") ?? false
        switch type {
        case _ where isFile && type.hasPrefix("text/"): self = .text
        case _ where isFile: self = .other
        case _ where type.hasSuffix("json"): self = .json
        case "application/x-www-form-urlencoded", "text/html": self = .data
        case _ where type.hasSuffix("xml"): self = .data
        case _ where type.hasPrefix("text/"), "application/javascript", "application/yaml": self = .text
        default: self = .other
        }
    }

    /// Whether secrets have names in it.
    var isData: Bool { self == .json || self == .data }

    var redaction: Redaction.Form { self == .json ? .json : .other }

    /// Returns the ending of a file with a body.
    static func ending(_ fields: HTTPFields) -> String {
        let type = fields[.contentType]?.split(separator: ";").first?.lowercased().trimmed ?? ""
        let known = [
            "application/json": "json", "application/pdf": "pdf", "application/zip": "zip", "image/jpeg": "jpg",
            "image/png": "png", "image/webp": "webp", "image/svg+xml": "svg", "text/html": "html", "text/plain": "txt",
            "audio/mpeg": "mp3", "video/mp4": "mp4",
        ]
        return known[type] ?? "bin"
    }
}
