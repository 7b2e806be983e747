/// The job of a `larder-pdf-worker` process, written as JSON to the file that its only argument names.
package enum PDFJob: Codable, Sendable, Equatable {
    /// Makes a document of pictures, one page each: JPEG and PNG that can be embedded as they are.
    case pictures(Pictures)
    /// Makes a document of pages of others, in any order.
    case compose(Compose)
    /// Typesets a text.
    case text(Text)
    /// Reports what is in a document; writes nothing.
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

    /// A JPEG or PNG that can be embedded as it is.
    package struct Picture: Codable, Sendable, Equatable {
        /// Where it comes from.
        package enum Origin: String, Codable, Sendable {
            /// From a client: it is decoded once, so that broken ones are refused.
            case client
            /// From a decoder, without loss and hardly compressed: its pixels are coded as small as they can be.
            case decoder
            /// From an encoder.
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
        /// Whether the sources are a client's: the result is read as a whole, so that what is readable only in part is
        /// refused.
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

    /// Typesets a text.
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

    /// Reports what is in a document.
    package struct Inspect: Codable, Sendable, Equatable {
        package var file: String
        package var maximumPages: Int

        package init(file: String, maximumPages: Int) {
            self.file = file
            self.maximumPages = maximumPages
        }
    }
}
