/// The code of a Swift file: comments and the contents of string literals are left out, line breaks are kept.
struct SwiftSource {
    let code: String

    /// Reads a file's text.
    init(_ text: String) {
        var code: [UInt8] = []
        code.reserveCapacity(text.utf8.count)
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "/") where rest.starts(with: "//".utf8): rest = rest.drop { $0 != UInt8(ascii: "\n") }
            case UInt8(ascii: "/") where rest.starts(with: "/*".utf8): Self.skipComment(&rest)
            case UInt8(ascii: "#") where rest.starts(with: "#/".utf8): Self.skipRegex(&rest)
            case UInt8(ascii: "#"), UInt8(ascii: "\""):
                guard let hashes = Self.openedLiteral(rest) else { fallthrough }
                Self.skipLiteral(&rest, hashes: hashes)
                code += "\"\"".utf8
            default:
                code.append(byte)
                rest.removeFirst()
            }
        }
        self.code = String(decoding: code, as: UTF8.self)
    }

    /// Names of the modules that it imports.
    var imports: Set<String> {
        let statement =
            #/
            ^\s* (?:@\w+ (?:\([^)]*\))? \s+)* (?:(?:public|package|internal|fileprivate|private)\s+)?
            import\s+ (?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)? (?<module>\w+)
            /#
        let lines = code.split(separator: "\n").filter { $0.contains("import ") }
        return Set(lines.compactMap { (try? statement.prefixMatch(in: $0)).map { String($0.module) } })
    }

    /// Removes a comment, which may hold others.
    private static func skipComment(_ rest: inout ArraySlice<UInt8>) {
        var depth = 0
        repeat {
            if rest.starts(with: "/*".utf8) {
                depth += 1
                rest.removeFirst(2)
            } else if rest.starts(with: "*/".utf8) {
                depth -= 1
                rest.removeFirst(2)
            } else {
                rest.removeFirst()
            }
        } while depth > 0 && !rest.isEmpty
    }

    /// Removes a regular expression, in which quotation marks mean nothing.
    private static func skipRegex(_ rest: inout ArraySlice<UInt8>) {
        while !rest.isEmpty, !rest.starts(with: "/#".utf8) { rest.removeFirst() }
        rest = rest.dropFirst(2)
    }

    /// Returns the number of number signs ahead of the quotation mark of a literal, or `nil` if none begins here.
    private static func openedLiteral(_ rest: ArraySlice<UInt8>) -> Int? {
        let hashes = rest.prefix { $0 == UInt8(ascii: "#") }.count
        return rest.dropFirst(hashes).first == UInt8(ascii: "\"") ? hashes : nil
    }

    /// Removes a literal with all interpolations.
    private static func skipLiteral(_ rest: inout ArraySlice<UInt8>, hashes: Int) {
        rest.removeFirst(hashes)
        let quotes = rest.starts(with: "\"\"\"".utf8) ? "\"\"\"" : "\""
        rest.removeFirst(quotes.utf8.count)
        let end = Array((quotes + String(repeating: "#", count: hashes)).utf8)
        let escape = Array(("\\" + String(repeating: "#", count: hashes)).utf8)
        while !rest.isEmpty, !rest.starts(with: end) {
            if rest.starts(with: escape) {
                rest.removeFirst(escape.count)
                if rest.first == UInt8(ascii: "(") { skipInterpolation(&rest) } else { rest = rest.dropFirst() }
            } else {
                rest.removeFirst()
            }
        }
        rest = rest.dropFirst(end.count)
    }

    /// Removes an interpolation, in which there may be literals.
    private static func skipInterpolation(_ rest: inout ArraySlice<UInt8>) {
        var depth = 0
        repeat {
            if let hashes = openedLiteral(rest) {
                skipLiteral(&rest, hashes: hashes)
                continue
            }
            if rest.first == UInt8(ascii: "(") { depth += 1 }
            if rest.first == UInt8(ascii: ")") { depth -= 1 }
            rest = rest.dropFirst()
        } while depth > 0 && !rest.isEmpty
    }
}
