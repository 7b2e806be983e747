import Foundation
import HTTPTypes
import Media
import Screens

/// The functions of Media that the app calls. They are closures so that tests can replace them and start no program.
/// Each throws the errors of its function.
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
        /// Opens encrypted sources.
        var password: String?
    }

    /// Makes a PDF of pictures: ``PDFTool/pages(of:options:title:to:progress:)``.
    var pages:
        @Sendable (
            _ pictures: [PictureSource], _ options: PictureOptions, _ title: String?, _ output: URL,
            _ progress: @escaping Progress
        ) async throws -> PDFDocumentSummary
    /// Makes a PDF of pages of others, or of all their pages:
    /// ``PDFTool/compose(_:of:title:isImport:keepsMetadata:password:to:progress:)``.
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
                    password: composition.password,
                    to: output,
                    progress: progress
                )
            },
            textPages: { try await documents.textPages($0, locale: $1, to: $2, progress: $3) },
            picture: { try await media.pages.picture(of: $0, in: $1, size: $2, width: $3) }
        )
    }
}

extension Problem {
    /// Translates a failure of Media into the problem of the response.
    ///
    /// - Parameters:
    ///   - error: a ``MediaError`` or ``MediaError/OfInput``.
    ///   - titles: the names of the client's files, in the order of Media's inputs; empty if the client sent none.
    /// - Returns: nil for every other error, and for one that the client can do nothing about: it belongs into the log.
    init?(_ error: any Error, titles: [String] = []) {
        switch error {
        case let error as MediaError.OfInput:
            let input = titles.indices.contains(error.index) ? (error.index, titles[error.index]) : nil
            self.init(error.error, of: input)
        case let error as MediaError: self.init(error, of: nil)
        default: return nil
        }
    }

    /// A file of the request that is empty or broken.
    init(damagedFile title: String, at index: Int) {
        self.init(.damaged, of: (index, title), .isDamaged)
    }

    private init?(_ error: MediaError, of input: (index: Int, title: String)?) {
        switch error {
        // A file of Larder's own that is not a PDF any more; the client has not sent it.
        case .unsupported where input == nil: self.init(.damaged, of: input, .isDamaged)
        case .unsupported:
            self.init(.unsupportedMediaType, of: input, .cannotBeUsed(SourceFormat.accepted))
        case .undecodable(let kind): self.init(.unsupportedMediaType, of: input, .isOfUnreadableKind(kind))
        // A file that makes a program crash is not a valid file of its format.
        case .damaged, .crashed: self.init(.damaged, of: input, .isDamaged)
        case .encrypted: self.init(.encrypted, of: input, .isProtected)
        case .tooLarge(let excess): self.init(.tooLarge, of: input, Self.fault(excess))
        case .tooManyPages(let limit): self.init(.tooManyPages, of: input, .tooManyPages(limit))
        case .timedOut: self.init(.timedOut, of: input, .takesTooLong)
        case .noGlyphs:
            self = .validation([.field("/text", "no-glyphs", .noGlyphs)])
        case .overloaded:
            self.init(.overloaded, .tooManyJobs, headerFields: [.retryAfter: "5"])
        case .toolMissing(let tool):
            self.init(
                .toolMissing,
                "\(tool.executable) is not there; on Debian it needs \(tool.package). "
                    + "Everything that does not need it works."
            )
        case .failed, .unavailable: self = .processingUnavailable
        case .storageFull: self = .storageFull
        case .noSuchPage, .unconfined: return nil
        }
    }

    private static func fault(_ excess: MediaError.Excess) -> Text {
        switch excess {
        case .bytes(let limit): .moreMebibytes(limit >> 20)
        case .pixels(let limit): .moreMegapixels(limit / 1_000_000)
        case .text, .output, .memory: .tooExpensive
        }
    }

    private init(_ code: ProblemCode, of input: (index: Int, title: String)?, _ fault: Text) {
        guard let input else {
            self.init(code, .document(fault))
            return
        }
        let detail: Text = "\(input.title) \(fault)."
        self.init(code, detail, errors: [.field("/files/\(input.index)", code.rawValue, detail)])
    }
}

extension ProblemCode {
    /// A document keeps a page.
    static let lastPage = ProblemCode("last-page", .conflict, .lastPage)
    /// No earlier version of the document is stored.
    static let nothingToUndo = ProblemCode("nothing-to-undo", .conflict, .nothingToUndo)
    /// A draft has to be saved first.
    static let notSaved = ProblemCode("not-saved", .conflict, .notSaved)
}
