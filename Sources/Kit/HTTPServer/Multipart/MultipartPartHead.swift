import HTTPSemantics

/// What the header of a part says (RFC 7578 §4.2, §4.4).
public struct MultipartPartHead: Sendable, Equatable {
    /// Name of the form's field.
    public var name: String
    /// Name of the file as the client gives it, without folders; nil if it gives none. To be shown, never to be
    /// opened.
    public var fileName: String?
    /// `Content-Type` as it is declared.
    public var contentType: String?

    /// Describes a part.
    public init(name: String, fileName: String? = nil, contentType: String? = nil) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType
    }

    /// Reads header lines, without the empty one that ends them.
    init(lines: [String]) throws(MultipartError) {
        var fields: [String: String] = [:]
        for line in Self.unfolded(lines) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(" ") else {
                throw .malformedHeader("a line has no name")
            }
            let name = parts[0].lowercased()
            guard fields[name] == nil else { throw .malformedHeader("\(name) is there twice") }
            fields[name] = String(FieldList.trim(parts[1]))
        }
        guard let disposition = fields["content-disposition"].flatMap({ ParameterizedValue($0) }),
            disposition.value == "form-data",
            let name = disposition.parameters["name"]
        else { throw .malformedHeader("Content-Disposition must be form-data with a name") }
        // Deprecated by RFC 7578 §4.7. What was encoded would be stored as it is, so it is refused.
        if let encoding = fields["content-transfer-encoding"]?.lowercased(),
            !["7bit", "8bit", "binary"].contains(encoding)
        {
            throw .malformedHeader("Content-Transfer-Encoding must be left out, or 7bit, 8bit or binary")
        }
        self.name = Self.unescaped(name)
        fileName = (disposition.extended("filename") ?? disposition.parameters["filename"].map(Self.unescaped)).map(
            Self.withoutFolders
        )
        contentType = fields["content-type"]
    }

    /// A line that begins with a space continues the previous one (RFC 5322 §2.2.3).
    private static func unfolded(_ lines: [String]) -> [String] {
        lines.reduce(into: []) { result, line in
            if line.hasPrefix(" ") || line.hasPrefix("\t"), !result.isEmpty {
                result[result.count - 1] += line
            } else {
                result.append(line)
            }
        }
    }

    /// Browsers write quotes and line ends percent-encoded, and nothing else (HTML Living Standard §4.10.21.8).
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    /// RFC 7578 §4.2: path information in a name is not to be used.
    private static func withoutFolders(_ name: String) -> String {
        name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last.map { String($0) }
            ?? ""
    }
}
