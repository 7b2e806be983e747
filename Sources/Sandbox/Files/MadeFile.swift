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

    /// The view that previews show.
    var landscape: Landscape? {
        switch self {
        case .photo(let landscape, _, _), .drawing(let landscape, _, _): landscape
        default: nil
        }
    }

    /// The bytes; what takes long to make is made once a process.
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
