/// Comma-separated lists of fields, split as RFC 9110 §5.6.1 says: empty members do not count, commas within quoted
/// strings do not separate.
enum FieldList {
    /// The members of one field line, each without surrounding whitespace.
    ///
    /// A quotation mark that is never closed is an ordinary character: what follows it must not vanish, it may say
    /// `no-store`.
    /// - Parameter escapes: whether `\` escapes within quotes; it does in a quoted-string (§5.6.4), not in an
    ///   entity-tag (§8.8.3).
    static func members(of line: String, escapes: Bool = true) -> [Substring] {
        var members: [Substring] = []
        let bytes = line.utf8
        var start = bytes.startIndex
        var index = start
        // Once a mark is not closed, no later one is: each was skipped as an escaped one, and a search from there would
        // read the same bytes in the same way. So the line is read twice at most.
        var closes = true
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: ","):
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

    private static func closingQuote(in bytes: String.UTF8View, from open: String.Index, escapes: Bool) -> String.Index?
    {
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

    /// Without spaces and tabs at both ends: the optional whitespace of RFC 9110 §5.6.3.
    static func trim(_ text: Substring) -> Substring {
        var text = text
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }

    /// What a quoted-string stands for; nil when the text is not one from end to end. RFC 9110 §5.6.4.
    static func unquoted(_ text: Substring) -> String? {
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

    /// `tchar` of RFC 9110 §5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"):
            true
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"):
            true
        case UInt8(ascii: "~"): true
        default: false
        }
    }
}
