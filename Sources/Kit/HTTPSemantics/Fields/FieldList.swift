/// Reads the list syntax of field values: empty members do not count, and separators inside of quoted strings do not
/// separate. RFC 9110 §5.6.1.
public enum FieldList {
    /// Returns the members of one field line, each without surrounding whitespace.
    ///
    /// A quotation mark that is never closed is an ordinary character: what follows it must not vanish, because it may
    /// say `no-store`.
    /// - Parameters:
    ///   - line: the value of one field line, or one member of a list if `separator` is a semicolon.
    ///   - separator: an ASCII character: a comma for lists, a semicolon for parameters (§5.6.6).
    ///   - escapes: whether `\` escapes within quotes; it does in a quoted-string (§5.6.4), not in an entity-tag
    ///     (§8.8.3).
    public static func members(
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
        // there would read the same bytes in the same way. So the line is read twice at most.
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
    public static func trim(_ text: some StringProtocol) -> Substring {
        var rest = Substring(text).utf8
        while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return Substring(rest)
    }

    /// Returns the value of a quoted-string. RFC 9110 §5.6.4.
    /// - Returns: nil if `text` is not one quoted-string from end to end.
    public static func unquoted(_ text: Substring) -> String? {
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
