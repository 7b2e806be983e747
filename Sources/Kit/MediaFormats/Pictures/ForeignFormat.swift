/// Names of formats that are not accepted, for problems that name what the client has sent.
enum ForeignFormat {
    static func name(of head: [UInt8]) -> String {
        if head.isEmpty { return "an empty file" }
        let signatures: [(bytes: [UInt8], name: String)] = [
            (Array("BM".utf8), "BMP"),
            (PDFSignature.bytes, "PDF"),
            (Array("%!PS".utf8), "PostScript"),
            (Array("PK\u{3}\u{4}".utf8), "ZIP or an office document"),
            ([0xFF, 0x0A], "JPEG XL"),
            ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "JPEG XL"),
            ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], "JPEG 2000"),
            ([0, 0, 1, 0], "ICO"),
            (Array("8BPS".utf8), "Photoshop"),
        ]
        if let found = signatures.first(where: { head.starts(with: $0.bytes) }) { return found.name }
        if head.dropFirst(4).starts(with: Array("ftyp".utf8)) { return "a video or another file of the MP4 family" }
        let text = String(decoding: head, as: UTF8.self).lowercased()
        if text.contains("<svg") { return "SVG" }
        if text.contains("<html") || text.contains("<!doctype html") { return "HTML" }
        return "an unknown format"
    }
}
