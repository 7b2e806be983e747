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
    /// ending says what it is.
    static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-z0-9][a-z0-9.\-]{0,63}/) != nil
            && types[String(name.split(separator: ".", omittingEmptySubsequences: false).last ?? "")] != nil
    }
}
