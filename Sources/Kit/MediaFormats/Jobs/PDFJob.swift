/// What `larder-pdf-worker` is told to do: one job a process, written as JSON into the file that its only argument names.
public enum PDFJob: Codable, Sendable, Equatable {
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
    public struct Pictures: Codable, Sendable, Equatable {
        /// Paths of the pictures, in the order of the pages.
        public var files: [String]
        public var layout: PageLayout
        public var title: String?
        public var output: String

        public init(files: [String], layout: PageLayout, title: String?, output: String) {
            self.files = files
            self.layout = layout
            self.title = title
            self.output = output
        }
    }

    /// Pages of documents become a document.
    public struct Compose: Codable, Sendable, Equatable {
        /// Paths of the documents that pages come from.
        public var sources: [String]
        /// The pages of the result; nil for all of all sources, in order.
        public var pages: [ComposedPage]?
        /// Nil keeps the title of the first source.
        public var title: String?
        public var output: String
        public var maximumPages: Int

        public init(sources: [String], pages: [ComposedPage]?, title: String?, output: String, maximumPages: Int) {
            self.sources = sources
            self.pages = pages
            self.title = title
            self.output = output
            self.maximumPages = maximumPages
        }
    }

    /// Text becomes pages.
    public struct Text: Codable, Sendable, Equatable {
        public var text: String
        /// BCP 47 language tag: which shapes letters take where languages differ.
        public var locale: String?
        public var title: String?
        public var output: String
        public var maximumPages: Int

        public init(text: String, locale: String?, title: String?, output: String, maximumPages: Int) {
            self.text = text
            self.locale = locale
            self.title = title
            self.output = output
            self.maximumPages = maximumPages
        }
    }

    /// Tells what is in a document.
    public struct Inspect: Codable, Sendable, Equatable {
        public var file: String
        public var maximumPages: Int

        public init(file: String, maximumPages: Int) {
            self.file = file
            self.maximumPages = maximumPages
        }
    }
}

/// One page of a composed document.
public struct ComposedPage: Codable, Sendable, Hashable {
    /// Which document, from 0, in the order in which they are given.
    public var source: Int
    /// Which page of it, from 1.
    public var page: Int
    /// Degrees by which it is turned clockwise beside how it is turned already: a multiple of 90, negative ones too.
    public var rotateBy: Int

    /// A page of the only document, or of one of several.
    public init(source: Int = 0, page: Int, rotateBy: Int = 0) {
        self.source = source
        self.page = page
        self.rotateBy = rotateBy
    }
}

/// How a picture lies on its page.
public enum PageLayout: String, Codable, Sendable, CaseIterable {
    /// The page has the picture's proportions; a pixel is at most a point (1/72 inch), and the longer side no longer than that of A4.
    case fit
    /// A4, upright or across as the picture is, which is as large as fits and in the middle.
    case a4
}
