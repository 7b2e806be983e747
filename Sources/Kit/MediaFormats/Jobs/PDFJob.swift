/// What `larder-pdf-worker` is told to do: one job a process, written as JSON into the file that its only argument
/// names.
package enum PDFJob: Codable, Sendable, Equatable {
    /// Pictures become pages, one each. JPEG and PNG only, and only such as PDF can hold as they are.
    case pictures(Pictures)
    /// Pages of other documents, in any order, become a document.
    case compose(Compose)
    /// Text becomes pages.
    case text(Text)
    /// Tells what is in a document; writes nothing.
    case inspect(Inspect)
    /// Tells which characters of a text no font has; writes nothing.
    case glyphs(text: String)

    /// Pictures become pages.
    package struct Pictures: Codable, Sendable, Equatable {
        /// Paths of the pictures, in the order of the pages.
        package var files: [String]
        package var layout: PageLayout
        package var title: String?
        package var output: String

        package init(files: [String], layout: PageLayout, title: String?, output: String) {
            self.files = files
            self.layout = layout
            self.title = title
            self.output = output
        }
    }

    /// Pages of documents become a document.
    package struct Compose: Codable, Sendable, Equatable {
        /// Paths of the documents that pages come from.
        package var sources: [String]
        /// The pages of the result; nil for all of all sources, in order.
        package var pages: [ComposedPage]?
        /// Nil keeps the title of the first source.
        package var title: String?
        package var output: String
        package var maximumPages: Int

        package init(sources: [String], pages: [ComposedPage]?, title: String?, output: String, maximumPages: Int) {
            self.sources = sources
            self.pages = pages
            self.title = title
            self.output = output
            self.maximumPages = maximumPages
        }
    }

    /// Text becomes pages.
    package struct Text: Codable, Sendable, Equatable {
        package var text: String
        /// BCP 47 language tag: which shapes letters take where languages differ.
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

    /// Tells what is in a document.
    package struct Inspect: Codable, Sendable, Equatable {
        package var file: String
        package var maximumPages: Int

        package init(file: String, maximumPages: Int) {
            self.file = file
            self.maximumPages = maximumPages
        }
    }
}
