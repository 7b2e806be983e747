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
    /// - Returns: nil if it is not `q`. A weight that is not a decimal number is 0: what cannot be read asks for
    ///   nothing. One above 1 counts as 1.
    private static func weight(of parameter: Substring) -> Double? {
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "q" else { return nil }
        guard parts[1].utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) else { return 0 }
        return min(Double(parts[1]) ?? 0, 1)
    }
}
