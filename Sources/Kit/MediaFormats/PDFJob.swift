/// The job of a `larder-pdf-worker` process, written as JSON to the file that its only argument names.
package enum PDFJob: Codable, Sendable, Equatable {
    /// The variable of the environment with the password that opens the sources, which is not written to a file; none
    /// for the empty password.
    package static let passwordVariable = "LARDER_PDF_PASSWORD"

    /// Makes a document of pictures, one page each: JPEG and PNG that can be embedded unchanged.
    case pictures(Pictures)
    /// Makes a document of pages of others, in any order.
    case compose(Compose)
    case text(Text)
    /// Reports the contents of a document; writes nothing.
    case inspect(Inspect)
    /// Reports the characters of a text that no font has; writes nothing.
    case glyphs(text: String)

    /// Makes a document of pictures.
    package struct Pictures: Codable, Sendable, Equatable {
        /// The pictures, in the order of the pages.
        package var files: [Picture]
        package var layout: PageLayout
        /// Whether metadata of photos stay: time, camera, position.
        package var keepsMetadata: Bool
        package var title: String?
        package var output: String
        /// Processor time that it may take to decode a picture.
        package var secondsPerPicture: Int

        package init(
            files: [Picture],
            layout: PageLayout,
            keepsMetadata: Bool = false,
            title: String?,
            output: String,
            secondsPerPicture: Int = 10
        ) {
            self.files = files
            self.layout = layout
            self.keepsMetadata = keepsMetadata
            self.title = title
            self.output = output
            self.secondsPerPicture = secondsPerPicture
        }
    }

    /// A JPEG or PNG that can be embedded unchanged.
    package struct Picture: Codable, Sendable, Equatable {
        package enum Origin: String, Codable, Sendable {
            /// From a client: it is decoded once, so that broken ones are refused.
            case client
            /// From a decoder, without loss and hardly compressed: its pixels are coded as small as they can be.
            case decoder
            case encoder
        }

        package var path: String
        package var origin: Origin
        /// Height of a pixel by its width.
        package var pixelAspect: Double
        /// The power to which a sample is light, if it is not that of sRGB and no profile tells it.
        package var gamma: Double?
        /// A JPEG of the same picture in a smaller quality, which is embedded if it takes fewer bytes.
        package var reduced: String?

        package init(
            path: String,
            origin: Origin,
            pixelAspect: Double = 1,
            gamma: Double? = nil,
            reduced: String? = nil
        ) {
            self.path = path
            self.origin = origin
            self.pixelAspect = pixelAspect
            self.gamma = gamma
            self.reduced = reduced
        }
    }

    /// Makes a document of pages of others.
    package struct Compose: Codable, Sendable, Equatable {
        /// Paths of the source documents.
        package var sources: [String]
        /// The pages of the result; nil for all of all sources, in order.
        package var pages: [ComposedPage]?
        /// Nil keeps the title of the first source.
        package var title: String?
        package var output: String
        package var maximumPages: Int
        /// Whether the sources are a client's: the result is read as a whole, so that a document with unreadable parts
        /// is refused.
        package var isChecked: Bool
        /// Whether metadata of photos on the pages stay: time, camera, position.
        package var keepsMetadata: Bool

        package init(
            sources: [String],
            pages: [ComposedPage]?,
            title: String?,
            output: String,
            maximumPages: Int,
            isChecked: Bool = false,
            keepsMetadata: Bool = false
        ) {
            self.sources = sources
            self.pages = pages
            self.title = title
            self.output = output
            self.maximumPages = maximumPages
            self.isChecked = isChecked
            self.keepsMetadata = keepsMetadata
        }
    }

    package struct Text: Codable, Sendable, Equatable {
        package var text: String
        /// BCP 47 language tag, by which fonts select the shapes of letters.
        package var locale: String?
        package var title: String?
        package var output: String
        package var maximumPages: Int

        package init(text: String, locale: String?, title: String?, output: String, maximumPages: Int) {
            self.text = text
            self.locale = locale
            self.title = title
            self.output = output
            self.maximumPages = maximumPages
        }
    }

    /// Reports the contents of a document.
    package struct Inspect: Codable, Sendable, Equatable {
        package var file: String
        package var maximumPages: Int

        package init(file: String, maximumPages: Int) {
            self.file = file
            self.maximumPages = maximumPages
        }
    }
}

/// The size of a page of a picture, and the position of the picture on it.
package struct PageLayout: Codable, Sendable, Equatable {
    /// The size of a page.
    package enum Paper: String, Codable, Sendable, CaseIterable {
        /// The page has the picture's proportions; a pixel is at most a point (1/72 inch), and the longer side is at
        /// most that of A4.
        case fit
        /// ISO 216, upright or lying as the picture is, which is scaled to fit and centred.
        case a4, a5, a3
        /// US Letter and US Legal; likewise.
        case letter, legal
    }

    package var paper: Paper
    /// White on each side of the picture, in points.
    package var margin: Double

    package init(_ paper: Paper, margin: Double = 0) {
        self.paper = paper
        self.margin = margin
    }

    package static let fit = PageLayout(.fit)
    package static let a4 = PageLayout(.a4)
}

/// One page of a composed document.
package struct ComposedPage: Codable, Sendable, Hashable {
    /// Position of the document among the sources, from 0.
    package var source: Int
    /// Number of its page, from 1.
    package var page: Int
    /// Degrees clockwise that are added to the rotation of the page: a multiple of 90, which may be negative.
    package var rotateBy: Int

    /// Creates a page of the only source, or of one of several.
    package init(source: Int = 0, page: Int, rotateBy: Int = 0) {
        self.source = source
        self.page = page
        self.rotateBy = rotateBy
    }
}

/// A message of `larder-pdf-worker`: one JSON value a line on standard output. Any number of `progress`, then one of
/// the others.
package enum PDFWorkerMessage: Codable, Sendable, Equatable {
    /// Completed steps of all steps.
    case progress(done: Int, total: Int)
    /// The job is done, and its output is written.
    case done(PDFDocumentSummary)
    /// The job failed, and there is no output. `input` is the position of the file that is at fault, from 0.
    case failed(PDFFailure, input: Int?)

    /// Exit codes of the worker.
    package enum ExitCode {
        /// The last message is `done`.
        package static let done: Int32 = 0
        /// The last message is `failed`.
        package static let failed: Int32 = 1
        /// The job could not be read; there is no message.
        package static let usage: Int32 = 64
    }
}

/// The reason for which a job failed, on the wire between the worker and the server.
package enum PDFFailure: Codable, Sendable, Equatable {
    /// The file is broken or no PDF, or a picture that PDF cannot hold unchanged; the text is Larder's own.
    case damaged(String)
    /// The file needs a password.
    case encrypted
    /// More pages than the limit.
    case tooManyPages(limit: Int)
    /// No page of this number (from 1).
    case noSuchPage(Int)
    /// No installed font has any character of the text.
    case noGlyphs
    /// Decoding a picture takes more processor time than it may.
    case timedOut
    /// The file is not at fault, such as when the result cannot be written.
    case other(String)
}
