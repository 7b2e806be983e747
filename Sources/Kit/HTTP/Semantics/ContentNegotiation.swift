package import HTTPTypes

/// The media types that a client accepts, with their weights: `Accept`. RFC 9110 §12.5.1.
///
/// Parameters other than `q` are ignored; of several members with one range the first counts.
package struct AcceptedMediaTypes: Sendable {
    private let ranges: [WeightedValue]

    /// Reads the header fields of a request.
    package init(_ fields: HTTPFields) {
        ranges = WeightedValue.list(fields[values: .accept])
    }

    /// Returns the weight of a media type, given by the most specific range that covers it.
    /// - Parameter type: such as `text/plain`, in lower case and without parameters.
    /// - Returns: 1 without the field; 0 if no range covers the type.
    package func weight(of type: String) -> Double {
        guard !ranges.isEmpty else { return 1 }
        let family = type.prefix { $0 != "/" }
        return explicitWeight(of: type) ?? explicitWeight(of: "\(family)/*") ?? explicitWeight(of: "*/*") ?? 0
    }

    /// Returns the weight of a media type or range that the client names literally; nil if it does not.
    package func explicitWeight(of range: String) -> Double? {
        ranges.first { $0.value == range }?.weight
    }
}

/// The languages that a client prefers: `Accept-Language`. RFC 9110 §12.5.4.
package struct AcceptedLanguages: Sendable {
    private let ranges: [WeightedValue]

    /// Reads the lines of the field.
    package init(_ lines: [String]) {
        ranges = WeightedValue.list(lines)
    }

    /// Returns the language that the client prefers, by the scheme "lookup" (RFC 4647 §3.4): a range names a language,
    /// whatever region or script follows it.
    ///
    /// - Parameter languages: Primary language subtags in lower case, such as `en`.
    /// - Returns: The first of the languages that have the greatest weight; nil if the client names none of them, or
    ///   leaves the choice to the server. A client that only says which ones it does not accept gets another one.
    package func preferred(of languages: [String]) -> String? {
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

/// The content codings that a client accepts: `Accept-Encoding`. RFC 9110 §12.5.3.
package enum AcceptedEncodings {
    /// Returns whether a client accepts gzip: listed, or covered by `*`, with a weight above zero that is not below
    /// that of the identity coding, if the client gives it one.
    /// - Parameter lines: all lines of the field. Without the field only the identity coding is used, although any
    ///   coding would be permitted.
    package static func allowGzip(_ lines: [String]) -> Bool {
        let codings = WeightedValue.list(lines)
        func weight(_ coding: String) -> Double? { codings.first { $0.value == coding }?.weight }
        let gzip = weight("gzip") ?? weight("x-gzip") ?? weight("*") ?? 0
        return gzip > 0 && gzip >= weight("identity") ?? weight("*") ?? 0
    }
}

/// A member of a field that states preferences, `value;q=weight`. RFC 9110 §12.4.2.
struct WeightedValue: Sendable, Equatable {
    /// The text before the first semicolon, in lower case.
    let value: String
    /// From 0, not acceptable, to 1, the default.
    let weight: Double

    /// Returns the members of the field lines in their order. Parameters other than `q` are ignored.
    static func list(_ lines: [String]) -> [WeightedValue] {
        lines.flatMap { FieldList.members(of: $0) }.compactMap(Self.init)
    }

    private init?(_ member: Substring) {
        let parts = FieldList.members(of: member, separator: ";")
        guard let value = parts.first, member.utf8.first != UInt8(ascii: ";") else { return nil }
        self.value = value.lowercased()
        weight = parts.dropFirst().lazy.compactMap(Self.weight).first ?? 1
    }

    /// Reads a parameter.
    /// - Returns: nil if it is not `q`. A weight that is not a decimal number is 0: an unreadable weight asks for
    ///   nothing. One above 1 counts as 1.
    private static func weight(of parameter: Substring) -> Double? {
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "q" else { return nil }
        guard parts[1].utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else { return 0 }
        return min(Double(parts[1]) ?? 0, 1)
    }
}
