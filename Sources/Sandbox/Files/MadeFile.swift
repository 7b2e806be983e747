import Synchronization

/// A file that is generated when its bytes are read, always with the same content.
enum MadeFile: Sendable, Hashable, Codable {
    case photo(Landscape, width: Int, height: Int)
    case drawing(Landscape, width: Int, height: Int)
    /// Latin text only.
    case pdf(title: String, pages: Int)
    case docx(title: String, paragraphs: Int)
    case xlsx(title: String, rows: Int)
    case text(String)
    case table(title: String, rows: Int)
    case archive(title: String)
    case tone(period: Int)

    /// The bytes. Those that take long to make are made once in a process.
    var bytes: [UInt8] {
        if case .text(let text) = self { return Array(text.utf8) }
        if let made = Self.made.withLock({ $0[self] }) { return made }
        let bytes = encoded
        Self.made.withLock { $0[self] = bytes }
        return bytes
    }

    private static let made = Mutex<[MadeFile: [UInt8]]>([:])

    private var encoded: [UInt8] {
        switch self {
        case .photo(let landscape, let width, let height):
            landscape.jpeg(width: width, height: height, comment: "made by Larder's sandbox")
        case .drawing(let landscape, let width, let height): landscape.png(width: width, height: height)
        case .pdf(let title, let pages): Self.pdf(title, pages)
        case .docx(let title, let count):
            OfficeFile.docx(
                paragraphs: [title]
                    + (1...count).map { "\($0). Это абзац документа «\(title)», созданного песочницей." }
            )
        case .xlsx(let title, let count):
            OfficeFile.xlsx(
                sheet: "Лист 1",
                rows: [[title, "Сумма"]] + (1...count).map { ["Строка \($0)", String($0 * 137 % 1_000)] }
            )
        case .text(let text): Array(text.utf8)
        case .table(let title, let count):
            Array(
                (["\(title);сумма"] + (1...count).map { "строка \($0);\($0 * 73 % 500)" }).joined(separator: "\r\n")
                    .utf8
            )
        case .archive(let title):
            ZIPFile.encode([.init(name: "Прочти меня.txt", content: Array("Архив «\(title)»\n".utf8))])
        case .tone(let period): WAVFile.encode(period: period, count: 8_000)
        }
    }

    private static func pdf(_ title: String, _ pages: Int) -> [UInt8] {
        PDFFile.encode(
            pages: (1...pages).map { page in
                [title, "", "Page \(page) of \(pages)"]
                    + (1...12).map { "Line \($0): made by the sandbox (no content)." }
            }
        )
    }
}

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

/// Writes a tone as RIFF WAVE: 8 000 samples a second, one channel, 8 bits.
enum WAVFile {
    /// - Parameters:
    ///   - period: of the tone, in samples.
    ///   - count: samples.
    static func encode(period: Int, count: Int) -> [UInt8] {
        let samples = (0..<count).map { UInt8($0 / max(1, period / 2) % 2 == 0 ? 96 : 160) }
        let format = little(1, 2) + little(1, 2) + little(8_000, 4) + little(8_000, 4) + little(1, 2) + little(8, 2)
        let chunks =
            Array("WAVEfmt ".utf8) + little(format.count, 4) + format + Array("data".utf8) + little(count, 4) + samples
        return Array("RIFF".utf8) + little(chunks.count, 4) + chunks
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) }
    }
}

/// The content of a file that is too large to be stored. Its bytes are made when they are read. One block of 64 KiB
/// repeats, with its number in its first eight bytes (big-endian), so that tests notice a byte from the wrong place.
struct EndlessBytes: ByteSource {
    static let block = 1 << 16

    let count: Int
    var identity: String { "endless \(count)" }

    func bytes(in range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var next = range.lowerBound
        while next < range.upperBound {
            let number = next / Self.block
            let start = next % Self.block
            let end = min(Self.block, start + range.upperBound - next)
            if start < 8 {
                let head = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
                bytes += head[start..<min(8, end)]
            }
            if end > 8 { bytes += Self.pattern[max(8, start)..<end] }
            next += end - start
        }
        return bytes
    }

    private static let pattern: [UInt8] = (0..<block / 8).flatMap { index in
        let value = SplitMix64.value(seed: 0x6C61_7264_6572, index: UInt64(index))
        return (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
