import RawStructuredFieldValues

/// Writes texts as bare items of structured fields. RFC 9651 §3.3.
public enum StructuredText {
    /// Returns the text as a token if it is one, otherwise as a string; characters that neither can hold are dropped.
    public static func tokenOrString(_ text: String) -> String {
        if text.structuredHeadersIsValidToken { return text }
        let printable = text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
        let escaped = String(String.UnicodeScalarView(printable))
            .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
