/// The reason for which work on a picture or a document failed: the errors of Media, and the only ones that apps
/// translate. Functions that do such work throw it, and `CancellationError` if they wait; their comments name other
/// errors, and cases that callers tell apart.
///
/// Every way in which a child process can end has its case; clients never see the output of a child.
package enum MediaError: Error, Sendable, Equatable {
    /// A program that is needed is not installed.
    case toolMissing(MediaTool)
    /// The kernel cannot confine a program that must not run unconfined.
    case unconfined(MediaTool)
    /// Too many jobs wait already; the same may succeed later.
    case overloaded
    /// The job took more wall or processor time than its limit.
    case timedOut(MediaTool)
    /// Something is above its limit.
    case tooLarge(Excess)
    /// The file is broken, or not of the format that it begins as. The text is Larder's own.
    case damaged(String)
    /// The PDF needs a password.
    case encrypted
    /// The document has, or would have, more pages than the limit.
    case tooManyPages(limit: Int)
    /// The document has no page of this number (from 1).
    case noSuchPage(Int)
    /// No installed font has any character of the text.
    case noGlyphs
    /// The format of the file is not accepted; the text names the format that it seems to be of.
    case unsupported(String)
    /// The picture is of an accepted format (the text names it), but of a kind that the installed decoder cannot read:
    /// the same may succeed with a newer one.
    case undecodable(String)
    /// A child ended by a signal that no limit explains: the file makes a decoder crash.
    case crashed(MediaTool, signal: Int32)
    /// A child failed for a reason that is not in the file. The text is for the log.
    case failed(MediaTool, String)
    /// The machine cannot do the job now: a child could not be started or was killed, or descriptors are used up. The
    /// same may succeed later. The text is for the log.
    case unavailable(String)
    /// The disk has no room for unfinished files. The text is for the log.
    case storageFull(String)

    /// A quantity above its limit.
    package enum Excess: Sendable, Equatable {
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
}

extension MediaError {
    /// An error of one of several inputs.
    package struct OfInput: Error, Sendable, Equatable {
        /// The position of the input, from 0.
        package let index: Int
        package let error: MediaError

        package init(index: Int, error: MediaError) {
            self.index = index
            self.error = error
        }
    }

    /// Whether an input is at fault. Otherwise it is the machine, or the load.
    var isOfInput: Bool {
        switch self {
        case .toolMissing, .overloaded, .failed, .unavailable, .storageFull: false
        default: true
        }
    }
}

extension MediaError.OfInput {
    /// Runs a part of a job on some of its inputs, and makes its errors name the position in the whole job.
    ///
    /// - Parameters:
    ///   - first: position of the part's first input in the job.
    ///   - count: inputs of the part; an error that names none is that of the only one.
    /// - Throws: ``MediaError/OfInput``, ``MediaError``, and other errors of `body`.
    package static func naming<Value>(
        _ first: Int,
        of count: Int = 1,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch { throw named(error, first, of: count) }
    }

    /// Runs a synchronous part of a job likewise.
    static func naming<Value>(_ first: Int, of count: Int = 1, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw named(error, first, of: count) }
    }

    private static func named(_ error: any Error, _ first: Int, of count: Int) -> any Error {
        switch error {
        case let error as MediaError.OfInput: MediaError.OfInput(index: first + error.index, error: error.error)
        case let error as MediaError where count == 1 && error.isOfInput:
            MediaError.OfInput(index: first, error: error)
        default: error
        }
    }
}
