import Foundation

extension String {
    /// The text in Unicode full case folding, canonically composed: `Straße` and `STRASSE`, `Σίσυφος` and `ΣΊΣΥΦΟΣ` are
    /// equal (Unicode Standard, section 3.13, D145).
    public var fullyCaseFolded: String {
        let letters = decomposedStringWithCanonicalMapping.unicodeScalars
        return letters.reduce(into: "") { $0 += Self.fullyFolded($1) }.precomposedStringWithCanonicalMapping
    }

    /// The text with fullwidth and halfwidth forms replaced by their decomposition mappings (RFC 8265 §3.3.1).
    public var widthMapped: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            let isForm = scalar == "\u{3000}" || (0xFF01...0xFFEE).contains(scalar.value)
            text += isForm ? String(scalar).precomposedStringWithCompatibilityMapping : String(scalar)
        }
    }

    /// Lower case of the upper case of the lower case: full mappings of single scalars, so that neither ß, ẞ and ss nor
    /// the two small sigmas differ.
    package static func fullyFolded(_ scalar: Unicode.Scalar) -> String {
        // The dotless i has no folding outside of Turkic languages.
        if scalar == "\u{131}" { return String(scalar) }
        let upper = scalar.properties.lowercaseMapping.unicodeScalars.map(\.properties.uppercaseMapping).joined()
        return upper.unicodeScalars.map(\.properties.lowercaseMapping).joined()
    }
}
