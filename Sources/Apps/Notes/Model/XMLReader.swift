import Screens

/// Why a text is not an XML document that is accepted here.
struct XMLDefect: Error, Equatable {
    let line: Int
    let reason: Text
}

/// Reads an XML document (XML 1.0, fifth edition) in UTF-8, one event after the other.
///
/// It takes no document type declaration. So there are no entities but the five that XML has itself: nothing is
/// fetched, and no text grows by being read.
struct XMLReader {
    enum Event: Equatable {
        case start(_ name: String, _ attributes: [String: String])
        case text(String)
        case end(String)
    }

    /// The most bytes of a name.
    private static let longestName = 256
    /// The most elements within each other.
    private static let maximumDepth = 128

    private let bytes: [UInt8]
    private var index = 0
    private var counted = (index: 0, line: 1)
    private var open: [String] = []
    private var hasRoot = false
    private var isEmptyElement = false

    /// - Throws: ``XMLDefect`` if the bytes are not UTF-8.
    init(_ bytes: [UInt8]) throws(XMLDefect) {
        self.bytes = bytes
        guard String(validating: bytes, as: UTF8.self) != nil else { throw XMLDefect(line: 1, reason: .isNotUTF8) }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// The line that is read, from 1.
    var line: Int {
        mutating get {
            counted.line += bytes[counted.index..<index].count { $0 == UInt8(ascii: "\n") }
            counted.index = index
            return counted.line
        }
    }

    /// Returns the next event; nil at the end of the document.
    mutating func next() throws(XMLDefect) -> Event? {
        if isEmptyElement {
            isEmptyElement = false
            return .end(open.removeLast())
        }
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "<") {
                let text = try text(to: UInt8(ascii: "<"))
                guard open.isEmpty else { return .text(text) }
                guard text.allSatisfy(\.isWhitespace) else { throw defect(.isNotWellFormed) }
            } else if skip("<!--") {
                _ = try take(to: "-->")
            } else if skip("<![CDATA[") {
                let text = try take(to: "]]>")
                guard !open.isEmpty else { throw defect(.isNotWellFormed) }
                return .text(Self.joiningLineEnds(text))
            } else if skip("<?") {
                try checkEncoding(try take(to: "?>"))
            } else if skip("<!") {
                throw defect(.hasDeclaration)
            } else {
                return skip("</") ? try endTag() : try startTag()
            }
        }
        guard open.isEmpty, hasRoot else { throw defect(.endsEarly) }
        return nil
    }

    private mutating func startTag() throws(XMLDefect) -> Event {
        index += 1
        let name = try self.name()
        guard !open.isEmpty || !hasRoot, open.count < Self.maximumDepth else { throw defect(.isNotWellFormed) }
        (hasRoot, open) = (true, open + [name])
        var attributes: [String: String] = [:]
        while true {
            let isApart = skipSpace()
            if skip(">") { return .start(name, attributes) }
            if skip("/>") {
                isEmptyElement = true
                return .start(name, attributes)
            }
            guard isApart else { throw defect(.isNotWellFormed) }
            let attribute = try self.name()
            skipSpace()
            guard skip("=") else { throw defect(.isNotWellFormed) }
            skipSpace()
            guard let quote = nextByte, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw defect(.isNotWellFormed)
            }
            index += 1
            let value = try text(to: quote)
            guard nextByte == quote, attributes.updateValue(value, forKey: attribute) == nil else {
                throw defect(.isNotWellFormed)
            }
            index += 1
        }
    }

    private mutating func endTag() throws(XMLDefect) -> Event {
        let name = try self.name()
        skipSpace()
        guard skip(">"), open.last == name else { throw defect(.isNotWellFormed) }
        return .end(open.removeLast())
    }

    private mutating func name() throws(XMLDefect) -> String {
        let start = index
        while let byte = nextByte, !Self.isSpace(byte), !#"/>=<"'&"#.utf8.contains(byte) { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        guard index - start <= Self.longestName, let first = name.unicodeScalars.first,
            first.properties.isAlphabetic || first == "_"
        else { throw defect(.isNotWellFormed) }
        return name
    }

    /// Reads character data or the value of an attribute, with references resolved.
    private mutating func text(to end: UInt8) throws(XMLDefect) -> String {
        var text = ""
        while let byte = nextByte, byte != end {
            guard byte != UInt8(ascii: "<") else { throw defect(.isNotWellFormed) }
            if skip("&") {
                text.unicodeScalars.append(try reference())
                continue
            }
            let start = index
            index =
                bytes[index...].firstIndex { $0 == end || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "<") }
                ?? bytes.endIndex
            try checkCharacters(start..<index)
            text += Self.joiningLineEnds(String(decoding: bytes[start..<index], as: UTF8.self))
        }
        return text
    }

    private mutating func reference() throws(XMLDefect) -> Unicode.Scalar {
        let name = try take(to: ";")
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.first == "#" else { throw defect(.hasUnknownEntity) }
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value >= 0x20 || Self.isSpace(value),
                let scalar = Unicode.Scalar(value)
            else { throw defect(.isNotWellFormed) }
            return scalar
        }
    }

    private mutating func checkEncoding(_ instruction: String) throws(XMLDefect) {
        guard instruction.hasPrefix("xml "), let range = instruction.firstRange(of: "encoding") else { return }
        let name = instruction[range.upperBound...].split { " ='\"\t\r\n".contains($0) }.first?.lowercased() ?? ""
        guard ["utf-8", "utf8", "us-ascii"].contains(name) else { throw defect(.isNotUTF8) }
    }

    private mutating func checkCharacters(_ range: Range<Int>) throws(XMLDefect) {
        guard let fault = bytes[range].firstIndex(where: { $0 < 0x20 && !Self.isSpace($0) }) else { return }
        index = fault
        throw defect(.isNotWellFormed)
    }

    private var nextByte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skip(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[index...].starts(with: wanted) else { return false }
        index += wanted.count
        return true
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = index
        while let byte = nextByte, Self.isSpace(byte) { index += 1 }
        return index > start
    }

    /// Returns the text up to a mark, and skips both.
    private mutating func take(to end: StaticString) throws(XMLDefect) -> String {
        let start = index
        while index < bytes.count {
            let stop = index
            if skip(end) {
                try checkCharacters(start..<stop)
                return String(decoding: bytes[start..<stop], as: UTF8.self)
            }
            index += 1
        }
        throw defect(.endsEarly)
    }

    private mutating func defect(_ reason: Text) -> XMLDefect { XMLDefect(line: line, reason: reason) }

    private static func isSpace(_ byte: some BinaryInteger) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// XML 1.0, section 2.11.
    private static func joiningLineEnds(_ text: String) -> String {
        guard text.utf8.contains(0x0D) else { return text }
        return text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

extension String {
    /// The text as character data of XML 1.0. Characters that XML does not have are replaced.
    var xmlEscaped: String {
        guard utf8.contains(where: { $0 < 0x20 || $0 == 0xEF || "&<>".utf8.contains($0) }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\r": text += "&#13;"
            case _ where !scalar.isOfXML: text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether XML 1.0 has all of its characters.
    var isOfXML: Bool { unicodeScalars.allSatisfy(\.isOfXML) }
}

extension Unicode.Scalar {
    /// XML 1.0, production 2.
    fileprivate var isOfXML: Bool {
        value >= 0x20 ? value != 0xFFFE && value != 0xFFFF : [0x09, 0x0A, 0x0D].contains(value)
    }
}
