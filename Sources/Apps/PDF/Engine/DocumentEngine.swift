import Foundation
import Media

/// The functions of Media that the app calls. They are closures so that tests can replace them and start no program.
///
/// Each one throws what the function of Media throws.
struct DocumentEngine: Sendable {
    typealias Progress = PDFTool.Progress

    /// A document to be composed.
    struct Composition: Sendable {
        /// Nil for all pages of all sources.
        var pages: [ComposedPage]?
        var sources: [URL]
        /// Nil keeps the title of the first source.
        var title: String?
        /// Whether the sources are a client's, and not yet checked.
        var isImport = false
    }

    /// Makes a PDF of pictures: ``PDFTool/pages(of:options:title:to:progress:)``.
    var pages:
        @Sendable (
            _ pictures: [PictureSource], _ options: PictureOptions, _ title: String?, _ output: URL,
            _ progress: @escaping Progress
        ) async throws -> PDFDocumentSummary
    /// Makes a PDF of pages of others, or of all their pages:
    /// ``PDFTool/compose(_:of:title:isImport:keepsMetadata:to:progress:)``.
    var compose:
        @Sendable (_ composition: Composition, _ output: URL, _ progress: @escaping Progress)
            async throws -> PDFDocumentSummary
    /// Typesets a text: ``PDFTool/textPages(_:locale:title:to:progress:)``.
    var textPages:
        @Sendable (_ text: String, _ locale: String?, _ output: URL, _ progress: @escaping Progress)
            async throws -> PDFDocumentSummary
    /// Draws a page: ``PagePictures/picture(of:in:size:width:isLossless:)``.
    var picture: @Sendable (_ page: Int, _ file: URL, _ size: PDFPage, _ width: Int) async throws -> RenderedPicture
}

extension DocumentEngine {
    /// Creates the functions of an engine.
    ///
    /// - Parameter keepsMetadata: whether photos on the pages of documents keep their metadata.
    init(_ media: MediaEngine, keepsMetadata: Bool) {
        let documents = media.documents
        self.init(
            pages: { try await documents.pages(of: $0, options: $1, title: $2, to: $3, progress: $4) },
            compose: { composition, output, progress in
                try await documents.compose(
                    composition.pages,
                    of: composition.sources,
                    title: composition.title,
                    isImport: composition.isImport,
                    keepsMetadata: keepsMetadata,
                    to: output,
                    progress: progress
                )
            },
            textPages: { try await documents.textPages($0, locale: $1, to: $2, progress: $3) },
            picture: { try await media.pages.picture(of: $0, in: $1, size: $2, width: $3) }
        )
    }
}
