import HTTPSemantics

/// The media types that no browser makes a document of which could run scripts: a response of such a type needs no
/// sandbox, provided that it has `nosniff`.
///
/// With `nosniff` the type that a response names is the one that it is taken for (MIME Sniffing §7), unless it names
/// none, several, or one that browsers take for "unknown". A list of types that run would never be complete: whatever
/// XML is named, types of plug-ins and viewers (PDF), `multipart/x-mixed-replace`, whose parts name types of their own.
enum PassiveType {
    private static let names: Set<String> = [
        "application/json", "application/octet-stream", "application/zip", "application/gzip",
        "image/apng", "image/avif", "image/bmp", "image/gif", "image/heic", "image/jpeg", "image/png", "image/webp",
        "image/x-icon", "image/vnd.microsoft.icon",
        "text/css", "text/csv", "text/plain",
    ]
    private static let kinds = ["audio/", "font/", "video/"]

    /// Returns whether the lines of `Content-Type` name one type, and that is a passive one.
    static func isNamed(by lines: [String]) -> Bool {
        // A comma may separate types, of which a browser takes the last one (Fetch, "extract a MIME type").
        guard lines.count == 1, let line = lines.first, !line.utf8.contains(UInt8(ascii: ",")) else { return false }
        let name = ParameterizedValue.essence(of: line)
        if names.contains(name) { return true }
        let isToken = name.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "/.+-_".utf8.contains($0) }
        guard isToken, name.split(separator: "/", omittingEmptySubsequences: false).count == 2 else { return false }
        if name.hasSuffix("+xml") { return false }
        return name.hasSuffix("+json") || kinds.contains { name.hasPrefix($0) }
    }
}
