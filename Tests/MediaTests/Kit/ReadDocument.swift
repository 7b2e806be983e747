import Foundation
import Synchronization

@testable import Media

/// The objects of a PDF, as qpdf reads them.
struct ReadDocument {
    typealias Dictionary = [String: Any]

    let bytes: [UInt8]
    /// By references, such as `1 0 R`; of streams their dictionaries.
    private(set) var objects: [String: Any] = [:]
    /// The data of streams after their filters, by references.
    private(set) var streams: [String: Data] = [:]
    private(set) var trailer: Dictionary = [:]

    init(_ file: URL, _ scratch: Scratch) async throws {
        bytes = Array(try Data(contentsOf: file))
        for (reference, object) in try await Self.objects(of: file, [], scratch) {
            let stream = object["stream"] as? Dictionary
            objects[reference] = stream?["dict"] ?? object["value"]
            if reference == "trailer" { trailer = object["value"] as? Dictionary ?? [:] }
        }
        let decoded = ["--json-stream-data=inline", "--decode-level=generalized"]
        for (reference, object) in try await Self.objects(of: file, decoded, scratch) {
            streams[reference] = ((object["stream"] as? Dictionary)?["data"] as? String).flatMap {
                Data(base64Encoded: $0)
            }
        }
    }

    private static func objects(of file: URL, _ options: [String], _ scratch: Scratch) async throws -> [(
        String, Dictionary
    )] {
        let json = try await scratch.tool("qpdf", ["--json=2"] + options + [file.path])
        let root = try JSONSerialization.jsonObject(with: Data(json)) as? Dictionary
        let all = (root?["qpdf"] as? [Dictionary])?.last ?? [:]
        return all.map { ($0.replacing("obj:", with: ""), $1 as? Dictionary ?? [:]) }
    }

    func value(_ value: Any?) -> Any? { (value as? String).flatMap { objects[$0] } ?? value }
    func dictionary(_ value: Any?) -> Dictionary? { self.value(value) as? Dictionary }
    func list(_ value: Any?) -> [Any] { self.value(value) as? [Any] ?? self.value(value).map { [$0] } ?? [] }
    func data(_ reference: Any?) -> Data? { (reference as? String).flatMap { streams[$0] } }

    var catalog: Dictionary { dictionary(trailer["/Root"]) ?? [:] }
    var pages: [Dictionary] {
        list(dictionary(catalog["/Pages"])?["/Kids"]).compactMap { dictionary($0) }
    }

    /// The operators and operands of a page.
    func content(of page: Dictionary) -> String {
        list(page["/Contents"]).isEmpty ? "" : String(decoding: data(page["/Contents"]) ?? Data(), as: UTF8.self)
    }

    /// All dictionaries of the document.
    var dictionaries: [Dictionary] {
        func found(in value: Any) -> [Dictionary] {
            if let list = value as? [Any] { return list.flatMap(found) }
            guard let dictionary = value as? Dictionary else { return [] }
            return [dictionary] + dictionary.values.flatMap(found)
        }
        return objects.values.flatMap(found)
    }
}

// Text, as PDF.js reads it.
extension ReadDocument {
    /// Returns the text of a page: that of the glyphs as they follow each other; of those without a gap or a jump
    /// between, in the order of reading.
    func text(of page: Dictionary) -> String {
        let fonts = dictionary(dictionary(page["/Resources"])?["/Font"]) ?? [:]
        var (text, item, font) = ("", "", (codes: [Int: String](), digits: 2))
        func flush() {
            text += Self.reading(item)
            item = ""
        }
        let token =
            #/
            /(?<font>[\w-]+)\ [\d.]+\ Tf
            |<(?<hex>[0-9a-fA-F]*)>
            |\((?<plain>(?:\\.|[^\\)])*)\)
            |(?<span>/Span\ <<.*?>>)
            |(?<gap>-?[\d.]+)
            |(?<move>Td|Tm)
            /#
        for match in content(of: page).matches(of: token.dotMatchesNewlines()) {
            if let name = match.font {
                font = codes(of: dictionary(fonts["/\(name)"]) ?? [:])
            } else if let hex = match.hex {
                for code in Self.codes(Array(hex), font.digits) { item += font.codes[code] ?? "?" }
            } else if let plain = match.plain {
                for byte in plain.replacing(/\\(.)/, with: { $0.1 }).utf8 { item += font.codes[Int(byte)] ?? "?" }
            } else if match.move != nil || match.gap.flatMap({ Double($0) }).map({ abs($0) > 300 }) == true {
                flush()
            }
        }
        flush()
        return text
    }

    /// Returns letters from left to right in the order of reading, for text that is read from the left.
    private static func reading(_ letters: String) -> String {
        var (text, backwards) = ("", "")
        for letter in letters {
            if isFromRight(letter) {
                backwards = "\(letter)\(backwards)"
            } else {
                text += "\(backwards)\(letter)"
                backwards = ""
            }
        }
        return text + backwards
    }

    private static func isFromRight(_ letter: Character) -> Bool {
        letter.unicodeScalars.contains { scalar in
            [0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC].contains { $0.contains(scalar.value) }
        }
    }

    private static func codes(_ digits: [Character], _ count: Int) -> [Int] {
        stride(from: 0, to: digits.count - count + 1, by: count).compactMap {
            Int(String(digits[$0..<($0 + count)]), radix: 16)
        }
    }

    /// Returns the text of each code of a font (ISO 32000-1 9.10.3), and the digits of a code.
    private func codes(of font: Dictionary) -> (codes: [Int: String], digits: Int) {
        let map = String(decoding: data(font["/ToUnicode"]) ?? Data(), as: UTF8.self)
        var codes: [Int: String] = [:]
        func text(_ hex: Substring, plus offset: Int = 0) -> String {
            var units = Self.codes(Array(hex), 4).map { UInt16($0) }
            units[units.count - 1] += UInt16(offset)
            return String(decoding: units, as: UTF16.self)
        }
        for match in map.matches(of: /<(\w+)> <(\w+)> <(\w+)>/) {
            let (first, last) = (Int(match.1, radix: 16) ?? 0, Int(match.2, radix: 16) ?? 0)
            for code in first...max(first, last) { codes[code] = text(match.3, plus: code - first) }
        }
        for block in map.matches(of: /beginbfchar(.*?)endbfchar/.dotMatchesNewlines()) {
            for match in block.1.matches(of: /<(\w+)> <(\w+)>/) { codes[Int(match.1, radix: 16) ?? 0] = text(match.2) }
        }
        return (codes, font["/Subtype"] as? String == "/Type0" ? 4 : 2)
    }
}

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

/// Keeps the progress reports of a job.
final class ProgressLog: Sendable {
    private let reports = Mutex<[JobProgress]>([])

    var all: [JobProgress] { reports.withLock { $0 } }

    func add(_ progress: JobProgress) { reports.withLock { $0.append(progress) } }
}

extension PDFTool {
    /// Makes a clean copy of a client's document.
    func importDocument(_ file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil) async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: [file], title: title, isImport: true, to: destination, progress: progress)
    }

    /// Makes a document of all pages of all documents.
    func merge(_ files: [URL], title: String? = nil, to destination: URL, progress: Progress? = nil) async throws
        -> PDFDocumentSummary
    {
        try await compose(nil, of: files, title: title, to: destination, progress: progress)
    }

    /// Makes a document of some pages of another, by their numbers from 1.
    func keep(_ pages: [Int], of file: URL, title: String? = nil, to destination: URL, progress: Progress? = nil)
        async throws -> PDFDocumentSummary
    {
        let pages = pages.map { ComposedPage(page: $0) }
        return try await compose(pages, of: [file], title: title, to: destination, progress: progress)
    }
}
