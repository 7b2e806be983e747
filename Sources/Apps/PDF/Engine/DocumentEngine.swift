import Foundation
import Media

/// The functions of Media that the app calls. They are closures so that tests can replace them and start no program.
///
/// Each one throws what the function of Media throws.
struct DocumentEngine: Sendable {
    typealias Progress = PDFTool.Progress

    /// Makes a PDF of pictures, one page each: ``PDFTool/pages(of:layout:title:to:progress:)``.
    var pages:
        @Sendable (_ pictures: [PictureSource], _ layout: PageLayout, _ output: URL, _ progress: @escaping Progress)
            async throws -> PDFDocumentSummary
    /// Makes a PDF of pages of others, or of all their pages: ``PDFTool/compose(_:of:title:to:progress:)``.
    var compose:
        @Sendable (_ pages: [ComposedPage]?, _ sources: [URL], _ output: URL, _ progress: @escaping Progress)
            async throws -> PDFDocumentSummary
    /// Typesets a text: ``PDFTool/textPages(_:locale:title:to:progress:)``.
    var textPages:
        @Sendable (_ text: String, _ locale: String?, _ output: URL, _ progress: @escaping Progress)
            async throws -> PDFDocumentSummary
    /// Draws a page: ``PagePictures/picture(of:in:size:width:isLossless:)``.
    var picture: @Sendable (_ page: Int, _ file: URL, _ size: PDFPage, _ width: Int) async throws -> RenderedPicture
}

extension DocumentEngine {
    init(_ media: MediaEngine) {
        self.init(
            pages: { try await media.documents.pages(of: $0, layout: $1, to: $2, progress: $3) },
            compose: { try await media.documents.compose($0, of: $1, to: $2, progress: $3) },
            textPages: { try await media.documents.textPages($0, locale: $1, to: $2, progress: $3) },
            picture: { try await media.pages.picture(of: $0, in: $1, size: $2, width: $3) }
        )
    }
}
