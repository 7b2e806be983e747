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

/// Why a job failed, on the wire between the worker and the server.
package enum PDFFailure: Codable, Sendable, Equatable {
    /// The file is broken or no PDF, or a picture that PDF cannot hold as it is; the text is Larder's own.
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
