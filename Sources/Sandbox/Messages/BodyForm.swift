import HTTPTypes

/// What a body is, as far as it matters for the secrets in it and for its file.
enum BodyForm: Sendable, Equatable {
    case json
    /// `name=value&…`.
    case form
    /// HTML or XML.
    case markup
    case multipart(boundary: String)
    /// A text in which names may stand before values.
    case assignments
    /// A text without names, such as a file that a user downloads.
    case text
    case other

    /// Reads `Content-Type` and `Content-Disposition`.
    init(_ fields: HTTPFields) {
        let type = Self.type(fields)
        let isFile = fields[.contentDisposition]?.lowercased().hasPrefix("attachment") ?? false
        let isText = type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
        switch type {
        case _ where isFile: self = isText ? .text : .other
        case _ where type.hasSuffix("json"): self = .json
        case "application/x-www-form-urlencoded": self = .form
        case _ where type == "text/html" || type.hasSuffix("xml"): self = .markup
        // Old services send `oauth_token=…` as such, and JSON.
        case "", "text/plain", "text/event-stream", "application/yaml": self = .assignments
        case _ where type.hasPrefix("multipart/"):
            let boundary = fields[.contentType]?.firstMatch(of: /boundary="?([^";]+)/.ignoresCase())?.output.1
            self = boundary.map { .multipart(boundary: String($0)) } ?? .other
        case _ where type.hasPrefix("text/"), "application/javascript": self = .text
        default: self = .other
        }
    }

    /// Reads the form of what a client sends: it is no file that somebody downloads.
    init(ofRequest fields: HTTPFields) {
        self = Self(fields)
        if self == .text || self == .other { self = .assignments }
    }

    private static func type(_ fields: HTTPFields) -> String {
        fields[.contentType]?.split(separator: ";").first?.lowercased().trimmed ?? ""
    }

    /// Returns the ending of a file with a body.
    static func ending(_ fields: HTTPFields) -> String {
        let known = [
            "application/json": "json", "application/pdf": "pdf", "application/zip": "zip", "image/jpeg": "jpg",
            "image/png": "png", "image/webp": "webp", "image/svg+xml": "svg", "text/html": "html", "text/plain": "txt",
            "audio/mpeg": "mp3", "video/mp4": "mp4",
        ]
        return known[type(fields)] ?? "bin"
    }
}
