/// How a PDF is recognised (ISO 32000-1 7.5.2). As other readers do, Larder accepts other bytes before the signature
/// (ISO 32000-1 annex H.3 note 13); a file that begins as a picture is a picture.
package enum PDFSignature {
    /// The first bytes of every PDF.
    package static let bytes = Array("%PDF-".utf8)
    /// The media type (IANA).
    package static let mediaType = "application/pdf"
    /// The signature begins within this many bytes.
    package static let searchedLength = 1024

    /// Whether the beginning of a file has the signature.
    ///
    /// - Parameter head: at least ``searchedLength`` bytes and the length of the signature, or the whole file.
    package static func isIn(_ head: [UInt8]) -> Bool {
        let last = min(head.count - bytes.count, searchedLength - 1)
        guard last >= 0 else { return false }
        return (0...last).contains { head[$0] == bytes[0] && head[$0...].starts(with: bytes) }
    }
}
