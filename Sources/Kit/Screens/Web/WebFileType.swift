import HTTP

/// The media types of the front end's files, by the endings of their names.
enum WebFileType {
    private static let types = [
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json; charset=utf-8",
        "png": "image/png",
        "svg": "image/svg+xml; charset=utf-8",
        "txt": "text/plain; charset=utf-8",
        "webmanifest": "application/manifest+json; charset=utf-8",
    ]

    /// Returns the type of a file, which is one that browsers download unless its ending is known.
    static func mediaType(ofName name: String) -> String {
        name.split(separator: ".").last.flatMap { types[String($0)] } ?? "application/octet-stream"
    }

    /// Whether a name is one that a file of the front end can have: it is in no other folder, not hidden, and its
    /// ending says its type.
    static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isLetterOrDigit($0) || ".-".utf8.contains($0) }
            && name.utf8.first.map(isLetterOrDigit) == true
            && types[String(name.split(separator: ".", omittingEmptySubsequences: false).last ?? "")] != nil
    }

    /// Whether a byte is a small letter or a digit.
    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}
