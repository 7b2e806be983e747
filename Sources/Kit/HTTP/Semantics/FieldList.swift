import RawStructuredFieldValues

/// Reads the list syntax of field values: empty members do not count, and separators inside of quoted strings do not
/// separate. RFC 9110 §5.6.1.
package enum FieldList {
    /// Returns the members of one field line, each without surrounding whitespace.
    ///
    /// A quotation mark that is never closed is an ordinary character, so that the text after it is kept: it may be
    /// `no-store`.
    /// - Parameters:
    ///   - line: the value of one field line, or one member of a list if `separator` is a semicolon.
    ///   - separator: an ASCII character: a comma for lists, a semicolon for parameters (§5.6.6).
    ///   - escapes: whether `\` escapes within quotes; it does in a quoted-string (§5.6.4), not in an entity-tag
    ///     (§8.8.3).
    package static func members(
        of line: some StringProtocol,
        separator: Unicode.Scalar = ",",
        escapes: Bool = true
    ) -> [Substring] {
        let line = Substring(line)
        let separator = UInt8(ascii: separator)
        var members: [Substring] = []
        let bytes = line.utf8
        var start = bytes.startIndex
        var index = start
        // If a quotation mark is not closed, no later one is: each was skipped as an escaped one, and a search from
        // there would read the same bytes alike. So the line is read twice at most.
        var closes = true
        while index < bytes.endIndex {
            switch bytes[index] {
            case separator:
                append(line[start..<index], to: &members)
                start = bytes.index(after: index)
            case UInt8(ascii: "\"") where closes:
                if let close = closingQuote(in: bytes, from: index, escapes: escapes) {
                    index = close
                } else {
                    closes = false
                }
            default: break
            }
            bytes.formIndex(after: &index)
        }
        append(line[start...], to: &members)
        return members
    }

    private static func append(_ member: Substring, to members: inout [Substring]) {
        let trimmed = trim(member)
        if !trimmed.isEmpty { members.append(trimmed) }
    }

    private static func closingQuote(
        in bytes: Substring.UTF8View,
        from open: String.Index,
        escapes: Bool
    ) -> String.Index? {
        var index = bytes.index(after: open)
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "\"") { return index }
            if escapes, bytes[index] == UInt8(ascii: "\\") {
                bytes.formIndex(after: &index)
                if index == bytes.endIndex { return nil }
            }
            bytes.formIndex(after: &index)
        }
        return nil
    }

    /// Removes spaces and tabs at both ends: the optional whitespace of RFC 9110 §5.6.3.
    package static func trim(_ text: some StringProtocol) -> Substring {
        var rest = Substring(text).utf8
        while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return Substring(rest)
    }

    /// Returns the value of a quoted-string. RFC 9110 §5.6.4.
    /// - Returns: nil if `text` is not one quoted-string from end to end.
    package static func unquoted(_ text: Substring) -> String? {
        guard text.utf8.count >= 2, text.utf8.first == UInt8(ascii: "\""), text.utf8.last == UInt8(ascii: "\"") else {
            return nil
        }
        var value = ""
        var escaped = false
        for character in text.dropFirst().dropLast().unicodeScalars {
            if escaped {
                value.unicodeScalars.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character == "\"" {
                return nil
            } else {
                value.unicodeScalars.append(character)
            }
        }
        return escaped ? nil : value
    }
}

/// A field value with parameters, `form-data; name="photo"; filename*=UTF-8''…`: MIME's syntax (RFC 2045 §5.1) as RFC
/// 7578 and browsers write it.
package struct ParameterizedValue: Sendable, Equatable {
    /// The text before the first semicolon, in lower case.
    package let value: String
    /// Parameters by name in lower case; of two with one name the first.
    package let parameters: [String: String]

    /// Reads a value.
    /// - Returns: nil if a parameter is incomplete or a quote is not closed.
    package init?(_ text: String) {
        value = Self.essence(of: text)
        var rest = text.unicodeScalars.drop { $0 != ";" }
        var parameters: [String: String] = [:]
        while let semicolon = rest.first {
            guard semicolon == ";" else { return nil }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            // A semicolon at the end is common and harmless.
            if rest.isEmpty { break }
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.first == "=" else { return nil }
            rest = rest.dropFirst()
            guard let text = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest) else { return nil }
            rest = rest.drop(while: Self.isSpace)
            let key = FieldList.trim(Substring(name)).lowercased()
            if parameters[key] == nil { parameters[key] = text }
        }
        self.parameters = parameters
    }

    /// Returns the text before the first semicolon, trimmed and in lower case, such as the media type of a
    /// `Content-Type` without its parameters.
    package static func essence(of text: String) -> String {
        FieldList.trim(Substring(text.utf8.prefix { $0 != UInt8(ascii: ";") })).lowercased()
    }

    /// Reads text in quotes. A backslash escapes a quote or a backslash; before any other character it is literal, as
    /// in `C:\photos` of old browsers.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
        var text = String.UnicodeScalarView()
        rest = rest.dropFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(text)
            case "\\" where rest.first == "\"" || rest.first == "\\":
                if let quoted = rest.popFirst() { text.append(quoted) }
            default: text.append(scalar)
            }
        }
        return nil
    }

    private static func token(_ rest: inout Substring.UnicodeScalarView) -> String? {
        let token = rest.prefix { $0 != ";" }
        rest = rest.dropFirst(token.count)
        return String(FieldList.trim(Substring(token)))
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    /// Returns a parameter in the extended form of RFC 8187, `filename*=UTF-8''%e2%82%ac`.
    /// - Parameter name: name of the parameter without the asterisk, in lower case.
    /// - Returns: nil if there is none, or if its charset is neither UTF-8 nor ISO-8859-1.
    package func extended(_ name: String) -> String? {
        guard let parts = parameters["\(name)*"]?.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3, let bytes = PercentEncoding.decode(parts[2])
        else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}

/// A dictionary of structured field values, with the types that cache directives take. RFC 9651 §3.2, §4.2.2.
package struct StructuredDictionary: Sendable {
    /// The value of a member; its parameters are checked and dropped.
    package enum Value: Sendable, Equatable {
        /// A boolean; a key without a value is true.
        case boolean(Bool)
        case integer(Int)
        case string(String)
        case token(String)
        /// A decimal, a byte sequence, a date, a display string or an inner list: no directive takes one.
        case other
    }

    /// Members in the order in which their keys first appear; of several values for one key the last applies (§4.2.2).
    package let members: [(key: String, value: Value)]

    /// Most members that are read: RFC 9651 §3.2 asks for at least 1,024.
    static let mostMembers = 1024

    /// Reads a field value, all its lines joined by commas.
    /// - Returns: nil if any part of the text violates the syntax: structured fields are read whole or not at all
    ///   (§4.2). Also nil if there are more than `mostMembers` members.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        // The library searches linearly for a key that is given again, so the number of keys has a limit.
        guard bytes.count(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) < 2 * Self.mostMembers else {
            return nil
        }
        var parser = StructuredFieldValueParser(bytes)
        guard let parsed = try? parser.parseDictionaryFieldValue(), parsed.count <= Self.mostMembers else { return nil }
        members = parsed.map { ($0.0, Value($0.1)) }
    }
}

extension StructuredDictionary.Value {
    fileprivate init(_ member: ItemOrInnerList) {
        guard case .item(let item) = member else {
            self = .other
            return
        }
        self =
            switch item.rfc9651BareItem {
            case .bool(let value): .boolean(value)
            case .integer(let value): .integer(Int(value))
            case .string(let value): .string(value)
            case .token(let value): .token(value)
            case .decimal, .undecodedByteSequence, .date, .displayString: .other
            }
    }
}

/// Writes texts as bare items of structured fields. RFC 9651 §3.3.
package enum StructuredText {
    /// Returns the text as a token if it is one, otherwise as a string; characters that neither can hold are dropped.
    package static func tokenOrString(_ text: String) -> String {
        if text.structuredHeadersIsValidToken { return text }
        let printable = text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
        let escaped = String(String.UnicodeScalarView(printable))
            .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}

extension UInt8 {
    /// Whether the byte is `DIGIT`, `0` to `9`. RFC 5234 appendix B.1.
    package var isASCIIDigit: Bool { self >= 0x30 && self <= 0x39 }
}

extension StringProtocol {
    /// Whether the text is `1*DIGIT`.
    package var isDigits: Bool { !isEmpty && utf8.allSatisfy(\.isASCIIDigit) }
}

package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: StaticString) {
        characters.withUTF8Buffer { for byte in $0 { insert(byte) } }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    func adding(_ characters: StaticString) -> ASCIISet {
        var set = self
        characters.withUTF8Buffer { for byte in $0 { set.insert(byte) } }
        return set
    }

    package func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low & (1 << UInt64(byte)) != 0
        case 64..<128: high & (1 << UInt64(byte - 64)) != 0
        default: false
        }
    }

    /// Returns whether a text has only characters of the set.
    package func containsAll(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { $0.allSatisfy(contains) }
    }

    package static let alphanumerics = ASCIISet("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
    /// `tchar`, the characters of a token. RFC 9110 §5.6.2.
    package static let token = alphanumerics.adding("!#$%&'*+-.^_`|~")
}
