/// A field value with parameters, `form-data; name="photo"; filename*=UTF-8''…`: MIME's syntax (RFC 2045 §5.1) as RFC
/// 7578 and browsers write it.
public struct ParameterizedValue: Sendable, Equatable {
    /// The text before the first semicolon, in lower case.
    public let value: String
    /// Parameters by name in lower case; of two with one name the first.
    public let parameters: [String: String]

    /// Reads a value.
    /// - Returns: nil if a parameter is incomplete or a quote is not closed.
    public init?(_ text: String) {
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
    public static func essence(of text: String) -> String {
        FieldList.trim(Substring(text.utf8.prefix { $0 != UInt8(ascii: ";") })).lowercased()
    }

    /// Reads text in quotes. A backslash escapes a quote or a backslash; before anything else it stands for itself, as
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
    public func extended(_ name: String) -> String? {
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
