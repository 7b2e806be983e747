// HTML and XML, as lenient as browsers are.
extension SecretScanner {
    /// Attributes that may have the name of a secret, and attributes with its value.
    private static let names: Set = [
        "name", "key", "property", "itemprop", "http-equiv", "field", "param", "type", "id",
    ]
    private static let values: Set = ["value", "content", "data", "default", "data-value"]
    /// Elements whose attribute tells nothing about their text.
    private static let containers: Set = [
        "a", "button", "div", "fieldset", "form", "iframe", "label", "li", "map", "object", "p", "script", "section",
        "select", "span", "table", "td", "tr", "ul",
    ]
    /// Elements that contain the name of the following element's value, as in property lists.
    private static let labels: Set = ["key", "name"]
    private static let void: Set = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    ]

    /// The position of a scan in the markup.
    private struct Inside {
        /// The element whose text is secret, and the number of open elements with its name.
        var secret: (name: String, depth: Int)?
        /// Whether the text of the next element is secret.
        var isLabelled = false
        /// The element that began last.
        var element = ""
    }

    private struct Tag {
        var name = ""
        var isSecret = false
        /// Whether it has no text.
        var isEmpty = false
    }

    mutating func markup() {
        var inside = Inside()
        while next != nil {
            if next != UInt8(ascii: "<") {
                textNode(&inside)
            } else if starts("<!--") {
                section(opening: "<!--", closing: "-->", isSecret: inside.secret != nil)
            } else if starts("<![CDATA[") {
                section(opening: "<![CDATA[", closing: "]]>", isSecret: inside.secret != nil)
            } else if starts("</") {
                endTag(&inside)
            } else if let byte = bytes.indices.contains(position + 1) ? bytes[position + 1] : nil,
                byte.isLower || byte.isUpper || byte == UInt8(ascii: "_")
            {
                startTag(&inside)
            } else {
                copy(to: position + 1)
            }
        }
    }

    private func starts(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private func place(of text: String, from start: Int) -> Int {
        let pattern = Array(text.utf8)
        guard let first = pattern.first else { return start }
        var next = start
        while next < bytes.count {
            if bytes[next] == first, bytes[next...].starts(with: pattern) { return next }
            next += 1
        }
        return bytes.count
    }

    /// Returns the name of an element or attribute without its prefix.
    private static func local(_ name: String) -> String { (name.split(separator: ":").last ?? "").lowercased() }

    // MARK: Content

    private mutating func section(opening: String, closing: String, isSecret: Bool) {
        copy(to: position + opening.utf8.count)
        let end = place(of: closing, from: position)
        content(to: end, isSecret: isSecret)
        copy(to: min(bytes.count, end + closing.utf8.count))
    }

    private mutating func textNode(_ inside: inout Inside) {
        let isScript = inside.element == "script" || inside.element == "style"
        let end = isScript ? place(of: "</", from: position) : end(of: position) { $0 != UInt8(ascii: "<") }
        if isScript, inside.secret == nil { return assignments(to: end) }
        let content = text(position..<end).trimmed
        if Self.labels.contains(inside.element), extent(of: content) != .nothing { inside.isLabelled = true }
        self.content(to: end, isSecret: inside.secret != nil)
    }

    private mutating func content(to end: Int, isSecret: Bool) {
        let start = self.end(of: position) { $0.isSpace }
        guard start < end else { return copy(to: end) }
        let last = bytes[start..<end].lastIndex { !$0.isSpace } ?? start
        copy(to: start)
        let raw = text(start..<last + 1)
        let value = Self.unescaped(raw)
        let shown = isSecret ? cleaner.hidden(value) : cleaner.text(value, depth: depth)
        written += (shown == value ? raw : Self.escaped(shown)).utf8
        position = last + 1
        copy(to: end)
    }

    // MARK: Tags

    private mutating func endTag(_ inside: inout Inside) {
        let end = place(of: ">", from: position)
        let name = Self.local(text(position + 2..<max(position + 2, end)).trimmed)
        if let secret = inside.secret, secret.name == name {
            inside.secret = secret.depth > 1 ? (name, secret.depth - 1) : nil
        }
        inside.element = ""
        copy(to: min(bytes.count, end + 1))
    }

    private mutating func startTag(_ inside: inout Inside) {
        let tag = startTag()
        inside.element = tag.isEmpty ? "" : tag.name
        guard !tag.isEmpty else { return }
        if let secret = inside.secret {
            if secret.name == tag.name { inside.secret = (tag.name, secret.depth + 1) }
        } else if tag.isSecret || inside.isLabelled {
            inside.secret = (tag.name, 1)
        }
        inside.isLabelled = false
    }

    /// Writes a tag without the secrets of its attributes.
    private mutating func startTag() -> Tag {
        var tag = Tag()
        let nameEnd = end(of: position + 1) { !$0.isSpace && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        let name = text(position + 1..<nameEnd)
        tag.name = Self.local(name)
        copy(to: nameEnd)
        let (attributes, end) = attributes()
        let isNamed = attributes.contains { attribute in
            let isName = Self.names.contains(attribute.name) && !(attribute.name == "type" && tag.name != "input")
            return isName && SecretName.extent(of: attribute.value, in: .member) != .nothing
        }
        for attribute in attributes {
            copy(to: attribute.range.lowerBound)
            let isOwn = extent(of: attribute.name) != .nothing && !Self.names.contains(attribute.name)
            let isSecret = isOwn || (isNamed && Self.values.contains(attribute.name))
            let shown = isSecret ? cleaner.hidden(attribute.value) : cleaner.text(attribute.value, depth: depth)
            if shown == attribute.value { continue }
            written += Self.escaped(shown).utf8
            position = attribute.range.upperBound
        }
        tag.isEmpty = Self.void.contains(tag.name) || bytes[end - 1] == UInt8(ascii: "/")
        tag.isSecret = extent(of: tag.name) != .nothing || (isNamed && !Self.containers.contains(tag.name))
        copy(to: min(bytes.count, end + 1))
        return tag
    }

    /// Returns the attributes of the tag with the ranges of their values, and the end of the tag.
    private func attributes() -> (found: [(name: String, value: String, range: Range<Int>)], end: Int) {
        var found: [(name: String, value: String, range: Range<Int>)] = []
        var next = position
        let marks = Set("=>/".utf8)
        while true {
            next = end(of: next) { $0.isSpace || $0 == UInt8(ascii: "/") }
            guard next < bytes.count, bytes[next] != UInt8(ascii: ">") else { return (found, next) }
            let nameEnd = end(of: next + 1) { !$0.isSpace && !marks.contains($0) }
            let name = Self.local(text(next..<nameEnd))
            next = end(of: nameEnd) { $0.isSpace }
            guard next < bytes.count, bytes[next] == UInt8(ascii: "=") else { continue }
            next = end(of: next + 1) { $0.isSpace }
            guard next < bytes.count else { return (found, next) }
            let isQuoted = "\"'".utf8.contains(bytes[next])
            let start = isQuoted ? next + 1 : next
            let quote = bytes[next]
            let valueEnd = end(of: start) { isQuoted ? $0 != quote : !$0.isSpace && $0 != UInt8(ascii: ">") }
            found.append((name, Self.unescaped(text(start..<valueEnd)), start..<valueEnd))
            next = isQuoted ? min(bytes.count, valueEnd + 1) : valueEnd
        }
    }

    // MARK: Entities

    private static let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'")]

    private static func unescaped(_ raw: String) -> String {
        guard raw.utf8.contains(UInt8(ascii: "&")) else { return raw }
        return entities.reduce(raw) { $0.replacing($1.0, with: $1.1) }.replacing("&amp;", with: "&")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
