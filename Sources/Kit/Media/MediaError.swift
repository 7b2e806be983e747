/// Why a picture or a document could not be worked on. Every way in which a child can end has its case; nothing of what
/// a child writes is shown to clients.
public enum MediaError: Error, Sendable, Equatable {
    /// A program that this needs is not installed.
    case toolMissing(MediaTool)
    /// A program that must not run unconfined, on a kernel that cannot confine it.
    case unconfined(MediaTool)
    /// Too many jobs wait already; come again later.
    case overloaded
    /// The job took more wall or processor time than its limit.
    case timedOut(MediaTool)
    /// Something is above its limit.
    case tooLarge(Excess)
    /// The file is not what it should be, or broken. The text is for people and names what was found, in Larder's own
    /// words.
    case damaged(String)
    /// The PDF needs a password.
    case encrypted
    /// The document has, or would have, more pages than the limit.
    case tooManyPages(limit: Int)
    /// The document has no page of this number (from 1).
    case noSuchPage(Int)
    /// No installed font has any character of the text.
    case noGlyphs
    /// A file of a kind that is not accepted; what it seems to be.
    case unsupported(String)
    /// A child ended by a signal that no limit explains: a file that makes a decoder crash.
    case crashed(MediaTool, signal: Int32)
    /// A child failed, or could not be started, for a reason that is not in the file; for the log.
    case failed(MediaTool, String)

    /// What was above its limit.
    public enum Excess: Sendable, Equatable {
        /// The file's bytes.
        case bytes(limit: Int)
        /// Width times height.
        case pixels(limit: Int)
        /// Bytes of text.
        case text(limit: Int)
        /// Bytes of the result.
        case output(limit: Int)
        /// The memory that a child may have.
        case memory(limit: Int)
    }

    /// Says which of several inputs (from 0) an error is about.
    public struct OfInput: Error, Sendable, Equatable {
        /// Position in the list that was given.
        public let index: Int
        /// What is wrong with it.
        public let error: MediaError

        /// Creates the error of one input.
        public init(index: Int, error: MediaError) {
            self.index = index
            self.error = error
        }
    }
}
