/// How a PDF is recognised (ISO 32000-1 7.5.2). Some readers accept a signature that is not at offset 0, by which a
/// file could have two formats at once; Larder does not.
public enum PDFSignature {
    /// The first bytes of every PDF.
    public static let bytes = Array("%PDF-".utf8)
    /// The media type (IANA).
    public static let mediaType = "application/pdf"
}
