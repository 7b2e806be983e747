/// PDFs written by hand, so that they can be wrong in any way.
struct PDFFixture {
    /// Objects from number 1, without `obj` and `endobj`.
    var objects: [[UInt8]] = []
    var trailer = "/Root 1 0 R"

    init(_ objects: [String]) {
        self.objects = objects.map { Array($0.utf8) }
    }

    /// Catalog, a page list, pages with these contents, each `width` × 100 points so that they can be told apart by
    /// their size.
    init(widths: [Int], content: String = "") {
        let pages = widths.indices.map { "\(3 + 2 * $0) 0 R" }.joined(separator: " ")
        objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [\(pages)] /Count \(widths.count) >>"]
            .map { Array($0.utf8) }
        for (index, width) in widths.enumerated() {
            let box = "/MediaBox [0 0 \(width) 100]"
            let page = "<< /Type /Page /Parent 2 0 R \(box) /Contents \(4 + 2 * index) 0 R /Resources << >> >>"
            objects.append(Array(page.utf8))
            objects.append(Self.stream(Array(content.utf8)))
        }
    }

    static func stream(_ bytes: [UInt8], _ entries: String = "") -> [UInt8] {
        Array("<< /Length \(bytes.count) \(entries) >>\nstream\n".utf8) + bytes + Array("\nendstream".utf8)
    }

    /// The file, with a cross-reference table that is right.
    var bytes: [UInt8] {
        var file = Array("%PDF-1.7\n".utf8)
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(file.count)
            file += Array("\(index + 1) 0 obj\n".utf8) + object + Array("\nendobj\n".utf8)
        }
        let start = file.count
        file += Array("xref\n0 \(objects.count + 1)\n0000000000 65535 f \n".utf8)
        for offset in offsets {
            let digits = String(offset)
            file += Array((String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n").utf8)
        }
        return file + Array("trailer\n<< /Size \(objects.count + 1) \(trailer) >>\nstartxref\n\(start)\n%%EOF\n".utf8)
    }
}
