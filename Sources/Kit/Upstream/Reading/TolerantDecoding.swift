package import Foundation

/// A list that an upstream sent: its elements, nil for those that do not have the expected shape.
///
/// Of a very long list only the first elements are decoded. The rows of a list are written in one transaction, and
/// SQLite has one writer, so that the length of lists bounds how long other writes wait, and the memory.
package struct TolerantList<Value: Decodable & Sendable>: Decodable, Sendable {
    /// The elements, at most ``ListLimit/elements``.
    package let values: [Value?]
    /// Whether the list has more elements than that. A list that is nothing without its end is then unusable.
    package let isTruncated: Bool

    /// Decodes a list.
    ///
    /// - Throws: `DecodingError` if it is none.
    package init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var values: [Value?] = []
        while !container.isAtEnd, values.count < ListLimit.elements {
            values.append(try container.decode(Tolerant<Value>.self).value)
        }
        self.values = values
        isTruncated = !container.isAtEnd
    }

    /// Decodes the first elements of a list. Later elements are not read: a decoder makes a map of all values
    /// of a text, which takes many times its bytes.
    ///
    /// - Parameter maximum: Elements to decode, from 1 to ``ListLimit/elements``.
    /// - Throws: `DecodingError` if it is no list.
    package init(json: Data, maximum: Int = ListLimit.elements) throws {
        let prefix = JSONPrefix.ofArray(json, elements: maximum)
        let list = try JSONDecoder().decode(Self.self, from: prefix ?? json)
        values = list.values
        isTruncated = list.isTruncated || prefix != nil
    }
}

/// The length of lists that upstreams send.
package enum ListLimit {
    /// Most elements that are decoded: some hundred times as many as the APIs have.
    package static let elements = 10_000
}

/// An element of a list that an upstream sent: nil if it does not have the expected shape.
///
/// A list of these decodes all of its usable elements, since one bad element does not fail the others.
package struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
    /// The element, nil if it could not be decoded.
    package let value: Value?

    /// Decodes an element; never throws.
    package init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}

extension String {
    /// Returns the form of an upstream's text for a row. It lacks invisible characters that change how the text around
    /// them is read (controls, marks of direction, zero-width characters), and outer white space. It is cut to a
    /// length, since indexed or compared texts must not be as long as a response may be.
    ///
    /// - Parameters:
    ///   - longest: Characters. A character with many combining marks counts as several.
    ///   - keepsLines: Whether line breaks stay; otherwise they become spaces.
    /// - Returns: Nil if the text is blank.
    package func rowText(longest: Int, keepsLines: Bool = false) -> String? {
        var text = self
        if text.utf8.count > longest { text = String(String.UnicodeScalarView(unicodeScalars.prefix(4 * longest))) }
        text = text.visible(keepsLines: keepsLines)
        if text.utf8.count > longest { text = String(text.prefix(longest)) }
        // Foundation's trimming takes as long as everything else of a row, and few texts need it.
        if text.isPadded { text = text.trimmingCharacters(in: .whitespacesAndNewlines) }
        return text.isEmpty ? nil : text
    }

    /// Whether the text begins or ends with white space.
    private var isPadded: Bool {
        [unicodeScalars.first, unicodeScalars.last].contains { $0?.properties.isWhitespace ?? false }
    }

    /// The most marks on one letter, as in the Stream-Safe Text Format (UAX #15).
    private static var mostMarks: Int { 30 }

    private func visible(keepsLines: Bool) -> String {
        guard !utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return self }
        var visible = String.UnicodeScalarView()
        var previous: Unicode.Scalar = " "
        var marks = 0
        for scalar in replacing("\r\n", with: "\n").unicodeScalars {
            let properties = scalar.properties
            let category = properties.generalCategory
            let isMark = category.isMark
            // A grapheme joiner stays between two marks only.
            if previous == "\u{34F}", !isMark {
                visible.removeLast()
                previous = visible.last ?? " "
            }
            if properties.isWhitespace, category != .spaceSeparator {
                visible.append(keepsLines && scalar != "\t" ? "\n" : " ")
            } else if !isMark || marks < Self.mostMarks, scalar.isSeen(as: category, after: previous) {
                visible.append(scalar)
            } else {
                continue
            }
            let joins = (0x200C...0x200D).contains(scalar.value)
            marks = isMark ? marks + 1 : joins ? marks : 0
            previous = scalar
        }
        if previous == "\u{34F}" { visible.removeLast() }
        return String(visible)
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is visible, or shapes its neighbours. Those that do are a variation selector after
    /// something, a joiner within an emoji or a word of a script from Hebrew to Mongolian, the tags of a flag, and a
    /// grapheme joiner after a mark, which keeps the order of marks.
    fileprivate func isSeen(as category: Unicode.GeneralCategory, after previous: Unicode.Scalar) -> Bool {
        switch (value, category) {
        case (0x200C...0x200D, _):
            (0x590...0x1CFF).contains(previous.value) && !previous.properties.isWhitespace
                || value == 0x200D && (previous == "\u{FE0F}" || previous.value > 0x2000 && previous.properties.isEmoji)
        case (0xE0020...0xE007F, _): previous == "\u{1F3F4}" || (0xE0020...0xE007E).contains(previous.value)
        case (0x034F, _): previous.properties.generalCategory.isMark && previous.value != 0x034F
        case (0xFFF9...0xFFFB, _): false
        case (_, .nonspacingMark): !properties.isDefaultIgnorableCodePoint || !previous.properties.isWhitespace
        case (_, .control): false
        default: !properties.isDefaultIgnorableCodePoint
        }
    }
}

extension Unicode.GeneralCategory {
    /// Whether a scalar is a mark on the letter before it, and takes no place of its own.
    fileprivate var isMark: Bool { self == .nonspacingMark || self == .enclosingMark }
}

/// Cuts JSON before it is decoded.
enum JSONPrefix {
    /// Returns an array with its first elements only, as JSON.
    ///
    /// - Parameter maximum: Elements to keep, at least one.
    /// - Returns: Nil if the text has no further elements, or does not begin as an array in UTF-8: then the whole text
    ///   is decoded. The syntax is not checked; malformed text stays malformed.
    static func ofArray(_ json: Data, elements maximum: Int) -> Data? {
        json.withUnsafeBytes { bytes in
            guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "["), let end = end(of: maximum, in: bytes) else {
                return nil
            }
            var prefix = Data(capacity: end + 1)
            prefix.append(contentsOf: bytes[..<end])
            prefix.append(UInt8(ascii: "]"))
            return prefix
        }
    }

    /// Whether an element follows a comma, and not the end.
    private static func isFollowed(_ comma: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let next = bytes[(comma + 1)...].first(where: { $0 > 0x20 }) else { return false }
        return next != UInt8(ascii: "]")
    }

    /// Returns the index of the comma after an element, counted from 1; nil if there is none.
    private static func end(of element: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        var (index, depth, count, isInText) = (0, 0, 0, false)
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\"") where isInText: isInText = false
            case UInt8(ascii: "\\") where isInText: index += 1
            case _ where isInText: break
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 1:
                count += 1
                if count == element { return isFollowed(index, in: bytes) ? index : nil }
            default: break
            }
            index += 1
        }
        return nil
    }
}

/// The number of values that a JSON response may have.
///
/// A decoder needs many times the bytes of a short value: ten million numbers, which fit into the largest response that
/// is accepted, would take hundreds of megabytes. It makes a map of all values before a type can refuse them.
enum JSONSize {
    /// Largest number of values of one response: 100 for each element of the longest list (``ListLimit``).
    static let maximumValues = 100 * ListLimit.elements

    /// Whether a body may be decoded. A body that is neither a JSON array nor a JSON object always may: it has one
    /// value.
    static func isAcceptable(_ body: [UInt8]) -> Bool {
        // A value and its comma take two bytes.
        guard body.count >= 2 * maximumValues, let first = body.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        else { return true }
        // Commas within strings count as well, which makes the limit a little stricter, and the count fast.
        return body.count { $0 == UInt8(ascii: ",") } < maximumValues
    }
}
