import Foundation
import Media
import Screens
import Storage

/// A file that pages are made of.
struct SourceFile: Sendable {
    /// Its name, or its position, for messages.
    let title: String
    /// The name that the client gave it.
    let fileName: String?
    let format: SourceFormat
    let place: TemporaryPath
    /// Opens an encrypted PDF.
    var password: String?

    var url: URL { URL(filePath: place.path) }
}

/// The format of a file that pages are made from, detected by its first bytes; its name and type are ignored.
enum SourceFormat: Sendable, Equatable {
    case picture(PictureFormat)
    case pdf

    /// Bytes that ``init(signature:)`` reads.
    static let signatureLength = PDFSignature.searchedLength + PDFSignature.bytes.count

    /// Reads the format from the first bytes of a file. A file that begins as a picture is one, even if a PDF follows.
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

/// A notice to the user about a file of a request that succeeded.
struct FileNotice: Encodable, Sendable, Equatable {
    /// Position of the file in the request, from 0.
    let file: Int
    let code: String
    /// A sentence for people.
    let text: Text

    /// - Parameter files: the files of the request.
    init(_ notice: InputNotice, _ files: [SourceFile]) {
        file = notice.input
        code = notice.kind.rawValue
        let title = files.indices.contains(notice.input) ? files[notice.input].title : "file \(notice.input + 1)"
        text =
            switch notice.kind {
            case .firstPictureOnly: .firstPictureOnly(title)
            case .restrictionsRemoved: .restrictionsRemoved(title)
            case .fieldsDrawn: .fieldsDrawn(title)
            case .bookmarksRemoved: .bookmarksRemoved(title)
            case .pageLabelsRemoved: .pageLabelsRemoved(title)
            case .linksRemoved: .linksRemoved(title)
            case .fieldsRemoved: .fieldsRemoved(title)
            case .multimediaRemoved: .multimediaRemoved(title)
            case .attachmentsRemoved: .attachmentsRemoved(title)
            case .signaturesRemoved: .signaturesRemoved(title)
            }
    }
}

/// The pages that a change has added to a document.
struct AddedPages: Sendable, Equatable {
    var pages: [DocumentPage]
    /// Characters of a text that no installed font has.
    var missingCharacters: [String] = []
    var notices: [FileNotice] = []
}
