public import Foundation

/// What makes, changes and draws PDF files: programs of their own under limits, because what they read comes from
/// anywhere. The app only says what it wants.
///
/// Every function takes files by their paths, writes its result to a path where nothing is yet, and ends with a
/// ``DocumentEngineError`` where it can tell what is wrong.
public struct DocumentEngine: Sendable {
    /// A file that pages are made of.
    public struct Source: Sendable, Equatable {
        /// Path.
        public var path: String
        /// What its first bytes say it is.
        public var kind: FileKind

        /// Describes a file.
        public init(path: String, kind: FileKind) {
            self.path = path
            self.kind = kind
        }
    }

    /// How large the page of a photo is.
    public enum PageFormat: String, Sendable, CaseIterable {
        /// As large as the photo.
        case fit
        /// ISO 216 A4, upright or lying as the photo is, which is centred.
        case a4
    }

    /// A page that was made.
    public struct MadePage: Sendable, Equatable {
        /// What is on it.
        public enum Kind: String, Sendable {
            /// A photo.
            case image
            /// Text.
            case text
            /// Taken over from a PDF.
            case imported
        }

        /// What is on it.
        public var kind: Kind
        /// Width before rotation, in points of 1/72 inch.
        public var width: Double
        /// Height before rotation, in points.
        public var height: Double
        /// `/Rotate` of an imported page: 0, 90, 180 or 270 degrees clockwise.
        public var rotation: Int

        /// Describes a page.
        public init(kind: Kind, width: Double, height: Double, rotation: Int = 0) {
            self.kind = kind
            self.width = width
            self.height = height
            self.rotation = rotation
        }
    }

    /// A page of an existing file that goes into a new one.
    public struct Pick: Sendable, Equatable {
        /// Which of the files, from 0.
        public var file: Int
        /// Which of its pages, from 1.
        public var page: Int
        /// By how much it is turned beside what it is already: 0, 90, 180 or 270 degrees clockwise.
        public var turn: Int

        /// Picks a page.
        public init(file: Int, page: Int, turn: Int = 0) {
            self.file = file
            self.page = page
            self.turn = turn
        }
    }

    /// Typeset text.
    public struct TextPages: Sendable, Equatable {
        /// The pages.
        public var pages: [MadePage]
        /// Characters that no installed font has, in the order of their first appearance.
        public var missingCharacters: [String]

        /// Describes typeset text.
        public init(pages: [MadePage], missingCharacters: [String] = []) {
            self.pages = pages
            self.missingCharacters = missingCharacters
        }
    }

    /// A picture.
    public struct Picture: Sendable, Equatable {
        /// Its bytes.
        public var bytes: Data
        /// Media type.
        public var type: String

        /// Describes a picture.
        public init(bytes: Data, type: String) {
            self.bytes = bytes
            self.type = type
        }
    }

    /// Hears how far a job is, from 0 to 1.
    public typealias Progress = @Sendable (Double) -> Void

    /// Makes one file of photos and PDFs, their pages in order.
    public var compose:
        @Sendable (_ sources: [Source], _ format: PageFormat, _ output: String, _ progress: @escaping Progress)
            async throws -> [MadePage]
    /// Makes one file of pages of others, in the order of the picks.
    public var arrange:
        @Sendable (_ files: [String], _ picks: [Pick], _ output: String, _ progress: @escaping Progress) async throws ->
            Void
    /// Typesets a text on as many pages as it takes. `locale` is a BCP 47 tag, for the forms of letters and the
    /// breaking of lines.
    public var typeset:
        @Sendable (_ text: String, _ locale: String?, _ output: String, _ progress: @escaping Progress) async throws ->
            TextPages
    /// Draws a page, from 1, whose size as it is shown is so many points, in a width of so many pixels; narrower where
    /// it would be too long.
    public var draw:
        @Sendable (_ file: String, _ page: Int, _ size: (width: Double, height: Double), _ width: Int) async throws ->
            Picture

    /// An engine of functions; one that is left out fails as a program that is not installed.
    public init(
        compose: @escaping @Sendable ([Source], PageFormat, String, @escaping Progress) async throws -> [MadePage] = {
            _,
            _,
            _,
            _ in throw missing
        },
        arrange: @escaping @Sendable ([String], [Pick], String, @escaping Progress) async throws -> Void = {
            _,
            _,
            _,
            _ in throw missing
        },
        typeset: @escaping @Sendable (String, String?, String, @escaping Progress) async throws -> TextPages = {
            _,
            _,
            _,
            _ in throw missing
        },
        draw: @escaping @Sendable (String, Int, (width: Double, height: Double), Int) async throws -> Picture = {
            _,
            _,
            _,
            _ in throw missing
        }
    ) {
        self.compose = compose
        self.arrange = arrange
        self.typeset = typeset
        self.draw = draw
    }

    /// What a function answers that was left out.
    public static let missing = DocumentEngineError.toolMissing(
        tool: "larder-pdf-worker",
        package: "libqpdf29 and libpangocairo-1.0-0"
    )
}

/// Why a file could not be made, changed or drawn. `source` is the place of the file at fault among those that were
/// given, from 0; nil where it is none of them.
public enum DocumentEngineError: Error, Sendable, Equatable {
    /// It is none of what is accepted after all.
    case unsupported(source: Int?)
    /// It cannot be read, or only in part.
    case damaged(source: Int?)
    /// It takes a password to open it.
    case encrypted(source: Int?)
    /// Its file is longer than is read.
    case tooManyBytes(source: Int?, limit: Int)
    /// It has more pixels than are decoded.
    case tooManyPixels(source: Int?, limit: Int)
    /// There are more pages than a document may have.
    case tooManyPages(source: Int?, limit: Int)
    /// It, or what is made of it, takes more memory or disk than a job may have.
    case tooLarge(source: Int?)
    /// No installed font has any character of the text.
    case noGlyphs
    /// It took longer than a job may.
    case timedOut(source: Int?)
    /// Too many jobs wait already; the same may succeed later.
    case overloaded
    /// A program is not installed; the package of Debian that has it.
    case toolMissing(tool: String, package: String)
}
