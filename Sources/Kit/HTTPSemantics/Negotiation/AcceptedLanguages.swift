public import HTTPTypes

/// The languages that a client prefers: `Accept-Language`. RFC 9110 §12.5.4.
public struct AcceptedLanguages: Sendable {
    private let ranges: [WeightedValue]

    /// Reads the header fields of a request.
    public init(_ fields: HTTPFields) {
        self.init(fields[values: .acceptLanguage])
    }

    /// Reads the lines of the field.
    public init(_ lines: [String]) {
        ranges = WeightedValue.list(lines)
    }

    /// Returns the language that the client prefers, by the scheme "lookup" (RFC 4647 §3.4): a range names a language,
    /// whatever region or script follows it.
    ///
    /// - Parameter languages: Primary language subtags in lower case, such as `en`.
    /// - Returns: The first of the languages that have the greatest weight; nil if the client names none of them, or
    ///   leaves the choice to the server. A client that only says which ones it does not accept gets another one.
    public func preferred(of languages: [String]) -> String? {
        var best: (language: String, weight: Double)?
        for range in ranges where range.weight > best?.weight ?? 0 {
            let primary = range.value.prefix { $0 != "-" }
            // `*` is any language that no other range names: that is the server's choice.
            if primary == "*" {
                best = ("*", range.weight)
            } else if let language = languages.first(where: { $0 == primary }) {
                best = (language, range.weight)
            }
        }
        if let best, best.language != "*" { return best.language }
        let accepted = languages.filter { !refuses($0) }
        return accepted.count < languages.count ? accepted.first : nil
    }

    /// Whether a language is named with the weight 0, which is "not acceptable".
    private func refuses(_ language: String) -> Bool {
        ranges.contains { $0.weight == 0 && $0.value.prefix { $0 != "-" } == language }
    }
}
