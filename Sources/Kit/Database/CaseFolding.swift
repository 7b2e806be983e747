import Foundation

extension String {
    /// The text in canonical composition (NFC) and Unicode simple case folding: the form in which texts are compared,
    /// sorted and searched regardless of case.
    public var caseFolded: String {
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
