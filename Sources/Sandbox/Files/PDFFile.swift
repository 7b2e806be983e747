/// Writes a PDF (ISO 32000-1) of plain pages: A4, one column of text in Helvetica, which every reader has.
enum PDFFile {
    /// - Parameter pages: the lines of each page; ASCII, as the built-in encoding has no Cyrillic.
    static func encode(pages: [[String]]) -> [UInt8] {
        var objects = [
            "<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
        var kids: [String] = []
        for lines in pages {
            let number = objects.count + 1
            kids.append("\(number) 0 R")
            objects.append(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
                    + "/Resources << /Font << /F1 3 0 R >> >> /Contents \(number + 1) 0 R >>"
            )
            let text =
                "BT /F1 14 Tf 20 TL 60 770 Td " + lines.map { "(\(escaped($0))) Tj T*" }.joined(separator: " ") + " ET"
            objects.append("<< /Length \(text.utf8.count) >>\nstream\n\(text)\nendstream")
        }
        objects[1] = "<< /Type /Pages /Count \(pages.count) /Kids [\(kids.joined(separator: " "))] >>"
        return file(of: objects)
    }

    private static func file(of objects: [String]) -> [UInt8] {
        var bytes = Array("%PDF-1.4\n".utf8)
        var places: [Int] = []
        for (index, object) in objects.enumerated() {
            places.append(bytes.count)
            bytes += "\(index + 1) 0 obj\n\(object)\nendobj\n".utf8
        }
        let table = bytes.count
        bytes += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n".utf8
        for place in places {
            let digits = String(place)
            bytes += (String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n").utf8
        }
        bytes += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R >>\nstartxref\n\(table)\n%%EOF\n".utf8
        return bytes
    }

    private static func escaped(_ line: String) -> String {
        line.replacing("\\", with: "\\\\").replacing("(", with: "\\(").replacing(")", with: "\\)")
    }
}
