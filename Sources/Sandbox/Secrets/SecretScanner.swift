import JSONValues

/// Reads a text, whole or cut off, and writes it without its secrets. All other bytes are copied unchanged.
struct SecretScanner {
    enum Syntax: Sendable {
        case json
        /// HTML or XML.
        case markup
        /// `name: value` and `name=value` in any text.
        case assignments

        /// Guesses the syntax of a text from its beginning; nil if it is neither JSON nor markup.
        init?(of text: String) {
            var bytes = text.utf8.lazy.filter { !$0.isSpace }.makeIterator()
            switch (bytes.next(), bytes.next()) {
            case (UInt8(ascii: "{"), UInt8(ascii: "\"")?), (UInt8(ascii: "{"), UInt8(ascii: "}")?): self = .json
            case (UInt8(ascii: "["), let next?) where next.isDigit || "\"{[]-tfn".utf8.contains(next): self = .json
            case (UInt8(ascii: "<"), let next?) where next.isLower || next.isUpper || "!?".utf8.contains(next):
                // Links in header fields are in angle brackets as well.
                if text.contains("<http") && !text.contains("</") { return nil }
                self = .markup
            default: return nil
            }
        }
    }

    let bytes: [UInt8]
    let cleaner: SecretCleaner
    /// Number of texts that contain this one.
    let depth: Int
    var position = 0
    var written: [UInt8] = []
    private var extents: [String: SecretName.Extent] = [:]

    init(_ text: String, cleaner: SecretCleaner, depth: Int = 0) {
        (bytes, self.cleaner, self.depth) = (Array(text.utf8), cleaner, depth)
        written.reserveCapacity(bytes.count)
    }

    mutating func cleaned(_ syntax: Syntax) -> String {
        switch syntax {
        case .json: json()
        case .markup: markup()
        case .assignments: assignments()
        }
        let text = String(decoding: written, as: UTF8.self)
        return syntax == .json ? text : cleaner.withoutKnown(text)
    }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func end(of start: Int, where isPart: (UInt8) -> Bool) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { !isPart($0) } ?? bytes.count
    }

    /// Writes the bytes up to a place unchanged.
    mutating func copy(to end: Int) {
        written += bytes[position..<end]
        position = end
    }

    /// In JSON that is shown, `code` is treated as the code of a login. In recordings it is mostly that of an error or
    /// a country.
    private var place: SecretName.Place { cleaner.secrets.areHashed ? .form : .member }

    mutating func extent(of name: String) -> SecretName.Extent {
        if let known = extents[name] { return known }
        let extent = SecretName.extent(of: name, in: place)
        extents[name] = extent
        return extent
    }
}

// MARK: JSON

extension SecretScanner {
    private struct Level {
        let isObject: Bool
        /// The secret part of the values in this array or object.
        let extent: SecretName.Extent
        var expectsName: Bool
        /// The secret part of the next value.
        var next: SecretName.Extent
        var name = ""
        /// Whether the object is the name of a secret and its value: `{"name":"password","value":"…"}`.
        var isPair = false
    }

    private static let names: Set = ["name", "key", "field", "header", "param"]
    private static let values: Set = ["value", "content", "val"]

    /// Reads all values, or one.
    ///
    /// - Parameters:
    ///   - extent: The secret part of them.
    ///   - isOne: Whether the scan ends after the first array or object.
    mutating func json(_ extent: SecretName.Extent = .nothing, isOne: Bool = false) {
        var levels: [Level] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = byte == UInt8(ascii: "{")
                let outer = levels.last?.next ?? extent
                let inner = isObject ? outer.inObject : outer.inArray
                levels.append(Level(isObject: isObject, extent: inner, expectsName: isObject, next: inner))
                copy(to: position + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
                copy(to: position + 1)
                if levels.isEmpty, isOne { return }
            case UInt8(ascii: ","):
                if let level = levels.last {
                    levels[levels.count - 1].expectsName = level.isObject
                    levels[levels.count - 1].next = level.extent
                }
                copy(to: position + 1)
            case UInt8(ascii: "\""):
                string(&levels, extent)
            case _ where byte.isSpace || byte == UInt8(ascii: ":"):
                copy(to: position + 1)
            default:
                literal(levels.last?.next ?? extent)
            }
        }
    }

    private mutating func string(_ levels: inout [Level], _ outer: SecretName.Extent) {
        let start = position + 1
        let end = stringEnd(from: start)
        let raw = text(start..<end)
        let value = Self.unescaped(raw)
        guard let last = levels.indices.last, levels[last].expectsName else {
            let level = levels.last
            let shown = shown(value, level?.next ?? outer, named: level?.name ?? "")
            if let last = levels.indices.last, Self.names.contains(levels[last].name) {
                levels[last].isPair =
                    extent(of: value) != .nothing || SecretName.extent(of: value, in: .field) != .nothing
            }
            return write(shown == value ? raw : Self.escaped(shown), quotedTo: end)
        }
        let own = extent(of: value)
        levels[last].expectsName = false
        levels[last].name = value.lowercased()
        levels[last].next = own == .nothing ? levels[last].extent : own
        if levels[last].isPair, Self.values.contains(levels[last].name) { levels[last].next = .texts }
        let shown = cleaner.withoutKnown(value)
        write(shown == value ? raw : Self.escaped(shown), quotedTo: end)
    }

    private func shown(_ value: String, _ extent: SecretName.Extent, named name: String) -> String {
        guard extent != .nothing, !value.isEmpty else { return cleaner.text(value, depth: depth) }
        let isField = name.hasSuffix("authorization") || name.hasSuffix("cookie")
        return isField
            ? cleaner.value(value, ofField: name.hasSuffix("n") ? "authorization" : "cookie")
            : cleaner.hidden(value)
    }

    private mutating func write(_ content: String, quotedTo end: Int) {
        written.append(UInt8(ascii: "\""))
        written += content.utf8
        position = min(end + 1, bytes.count)
        if end < bytes.count { written.append(UInt8(ascii: "\"")) }
    }

    /// Reads a number or a word.
    private mutating func literal(_ extent: SecretName.Extent) {
        let end = max(position + 1, end(of: position) { !",]}\" \n\r\t:".utf8.contains($0) })
        let word = text(position..<end)
        let isNumber = word.utf8.contains(where: \.isDigit)
        let shown = isNumber && extent == .numbers ? cleaner.hidden(word) : cleaner.withoutKnown(word)
        guard shown != word else { return copy(to: end) }
        written += "\"\(shown)\"".utf8
        position = end
    }

    /// The next quote that no backslash precedes.
    func stringEnd(from start: Int, quote: UInt8 = UInt8(ascii: "\"")) -> Int {
        var next = start
        while next < bytes.count, bytes[next] != quote {
            next += bytes[next] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(next, bytes.count)
    }

    private static func unescaped(_ raw: String) -> String {
        guard raw.utf8.contains(UInt8(ascii: "\\")) else { return raw }
        // An incomplete escape is kept.
        return JSONValue(json: "\"\(raw)\"".utf8)?.string ?? raw
    }

    private static func escaped(_ text: String) -> String {
        // The quotes are removed as bytes, because a quotation mark and a combining mark after it are one character.
        String(decoding: JSONValue.string(text).json.utf8.dropFirst().dropLast(), as: UTF8.self)
    }
}

// MARK: Other texts

extension SecretScanner {
    private static let ends = Set("&,;)]}<> \t\r\n".utf8)
    private static let schemes: Set = ["bearer", "basic", "oauth", "token", "digest", "apikey", "negotiate"]

    /// Finds `name: value` and `name=value`, with or without quotes.
    mutating func assignments(to limit: Int? = nil) {
        let limit = limit ?? bytes.count
        while position < limit {
            let end = min(limit, self.end(of: position) { Self.isWord($0) })
            guard end > position else {
                copy(to: position + 1)
                continue
            }
            let extent = SecretName.extent(of: text(position..<end), in: .form)
            let name = text(position..<end).lowercased()
            copy(to: end)
            if extent != .nothing { assignedValue(of: name, extent) }
        }
    }

    /// Copies the separator between a name and its value, and hides the value. Does nothing without a separator.
    private mutating func assignedValue(of name: String, _ extent: SecretName.Extent) {
        var next = position
        let quotes = Set("\"'".utf8)
        if next < bytes.count, quotes.contains(bytes[next]) { next += 1 }
        next = end(of: next) { $0 == 0x20 }
        guard next < bytes.count, bytes[next] == UInt8(ascii: ":") || bytes[next] == UInt8(ascii: "=") else { return }
        next = end(of: next + 1) { $0 == 0x20 || $0 == UInt8(ascii: ">") }
        guard next < bytes.count else { return }
        if "{[".utf8.contains(bytes[next]) {
            copy(to: next)
            return json(extent, isOne: true)
        }
        let quote = quotes.contains(bytes[next]) ? bytes[next] : nil
        if quote != nil { next += 1 }
        let end = valueEnd(from: next, quote, isCookie: name.hasSuffix("cookie"))
        guard end > next else { return }
        copy(to: next)
        let value = text(next..<end)
        if ["null", "true", "false", "nil", "None"].contains(value) { return copy(to: end) }
        let isField = name.hasSuffix("authorization") || name.hasSuffix("cookie")
        let field = name.hasSuffix("cookie") ? "cookie" : "authorization"
        written += (isField ? cleaner.value(value, ofField: field) : cleaner.hidden(value)).utf8
        position = end
    }

    private func valueEnd(from start: Int, _ quote: UInt8?, isCookie: Bool) -> Int {
        if let quote { return stringEnd(from: start, quote: quote) }
        let lineEnds = Set("\r\n\"<".utf8)
        if isCookie { return end(of: start) { !lineEnds.contains($0) } }
        let end = end(of: start) { !Self.ends.contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        guard Self.schemes.contains(text(start..<end).lowercased()), end + 1 < bytes.count, bytes[end] == 0x20 else {
            return end
        }
        return self.end(of: end + 1) { !Self.ends.contains($0) && $0 != UInt8(ascii: "\"") }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isLower || byte.isUpper || byte.isDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}
