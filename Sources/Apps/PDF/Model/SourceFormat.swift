import Media

/// The format of a file that pages are made from, detected by its first bytes; its name and type are ignored.
enum SourceFormat: Sendable, Equatable {
    case picture(PictureFormat)
    case pdf

    /// Bytes that ``init(signature:)`` reads.
    static let signatureLength = PDFSignature.searchedLength + PDFSignature.bytes.count

    /// Reads the format from the first bytes of a file. What begins as a picture is one, whatever follows.
    ///
    /// - Returns: nil if the format is not accepted.
    init?(signature bytes: some Sequence<UInt8>) {
        let head = Array(bytes.prefix(Self.signatureLength))
        if let picture = PictureFormat(signature: head) {
            self = .picture(picture)
        } else if PDFSignature.isIn(head) {
            self = .pdf
        } else {
            return nil
        }
    }

    /// The media type (IANA).
    var mediaType: String {
        switch self {
        case .picture(let format): format.mediaType
        case .pdf: PDFSignature.mediaType
        }
    }

    /// The accepted media types, for messages.
    static let accepted = (PictureFormat.allCases.map(\.mediaType) + [PDFSignature.mediaType]).joined(separator: ", ")
}
