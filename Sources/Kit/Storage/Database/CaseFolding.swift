import Foundation

extension String {
    /// The text in canonical composition (NFC) and Unicode simple case folding: the form in which texts are compared,
    /// sorted and searched regardless of case.
    package var caseFolded: String {
        String(String.UnicodeScalarView(precomposedStringWithCanonicalMapping.unicodeScalars.map(Self.folded)))
    }

    /// Returns the lower case of the upper case, if each is one scalar: equal for all that simple case folding makes
    /// equal, final sigma and long s included.
    private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if scalar.isASCII {
            return (0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar
        }
        if scalar == "\u{131}" { return scalar }  // The dotless i has no folding outside of Turkic languages.
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    private static func single(_ mapping: String) -> Unicode.Scalar? {
        mapping.unicodeScalars.count == 1 ? mapping.unicodeScalars.first : nil
    }
}

// MARK: Full case folding

extension String {
    /// The text in Unicode full case folding, canonically composed: `Straße` and `STRASSE`, `Σίσυφος` and `ΣΊΣΥΦΟΣ` are
    /// equal (Unicode Standard, section 3.13, D145).
    package var fullyCaseFolded: String {
        let letters = decomposedStringWithCanonicalMapping.unicodeScalars
        return letters.reduce(into: "") { $0 += Self.fullyFolded($1) }.precomposedStringWithCanonicalMapping
    }

    /// The text with fullwidth and halfwidth forms replaced by their decomposition mappings (RFC 8265 §3.3.1).
    package var widthMapped: String {
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
