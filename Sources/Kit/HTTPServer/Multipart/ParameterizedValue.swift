/// A header value with parameters, `form-data; name="photo"; filename*=UTF-8''…`: MIME's syntax (RFC 2045 §5.1) as RFC
/// 7578 and browsers write it.
struct ParameterizedValue: Sendable, Equatable {
    /// What stands before the first semicolon, in lower case.
    let value: String
    /// Parameters by name in lower case; of two with one name the first.
    let parameters: [String: String]

    /// Reads a value; nil where a parameter is broken off, or a quote is not closed.
    init?(_ text: String) {
        var rest = text.unicodeScalars[...]
        value = String(rest.prefix { $0 != ";" }).trimmedOfSpaces.lowercased()
        rest = rest.drop { $0 != ";" }
        var parameters: [String: String] = [:]
        while let semicolon = rest.first {
            guard semicolon == ";" else { return nil }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            if rest.isEmpty { break }  // A semicolon at the end is common and harmless.
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(name.count)
            guard !name.isEmpty, rest.first == "=" else { return nil }
            rest = rest.dropFirst()
            guard let text = rest.first == "\"" ? Self.quoted(&rest) : Self.token(&rest) else { return nil }
            rest = rest.drop(while: Self.isSpace)
            let key = String(name).trimmedOfSpaces.lowercased()
            if parameters[key] == nil { parameters[key] = text }
        }
        self.parameters = parameters
    }

    /// Text in quotes. A backslash quotes a quote or a backslash; before anything else it is itself, as in `C:\photos`
    /// of old browsers.
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
        return String(token).trimmedOfSpaces
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

    /// A parameter in the extended form of RFC 8187, `filename*=UTF-8''%e2%82%ac`; nil where it is none, or in a
    /// charset other than UTF-8 and ISO-8859-1.
    func extended(_ name: String) -> String? {
        guard let parts = parameters["\(name)*"]?.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3
        else { return nil }
        var bytes: [UInt8] = []
        var rest = parts[2].utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let decoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    var trimmedOfSpaces: String {
        var scalars = Substring(self).unicodeScalars
        while scalars.first.map({ $0 == " " || $0 == "\t" }) == true { scalars.removeFirst() }
        while scalars.last.map({ $0 == " " || $0 == "\t" }) == true { scalars.removeLast() }
        return String(Substring(scalars))
    }
}
