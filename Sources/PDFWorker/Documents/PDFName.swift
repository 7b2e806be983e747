import Foundation

/// A name with its slash (ISO 32000-1 7.3.5): any bytes but zero, in whatever encoding.
struct PDFName: Hashable, ExpressibleByStringLiteral {
    /// The bytes as C functions take them, ended by a zero byte.
    let bytes: [CChar]

    init(_ bytes: UnsafePointer<CChar>) {
        self.bytes = Array(UnsafeBufferPointer(start: bytes, count: strlen(bytes) + 1))
    }

    init(_ text: String) { bytes = Array(text.utf8CString) }

    init(stringLiteral text: String) { self.init(text) }

    /// The name as text, as far as it is UTF-8.
    var text: String { String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }

    /// The name with its number signs escaped; nil if it has none.
    var escaped: PDFName? {
        let sign = CChar(bitPattern: UInt8(ascii: "#"))
        guard bytes.contains(sign) else { return nil }
        return PDFName(bytes.flatMap { $0 == sign ? "#23".utf8.map { CChar(bitPattern: $0) } : [$0] })
    }
}
