import Foundation
import MediaFormats

/// A failure as the worker reports it, with the file that is at fault.
struct JobError: Error, Equatable {
    var failure: PDFFailure
    /// Position of the file, from 0.
    var input: Int?

    init(_ failure: PDFFailure, input: Int? = nil) {
        self.failure = failure
        self.input = input
    }

    static func damaged(_ reason: String) -> JobError { JobError(.damaged(reason)) }

    /// Returns an error of the machine. The server recognises it by its words on standard error.
    static func machine(_ reason: String) -> JobError {
        try? FileHandle.standardError.write(contentsOf: Data("\(reason)\n".utf8))
        return JobError(.other(reason))
    }

    /// Returns the error of a lack of memory.
    static func outOfMemory() -> JobError { machine("out of memory") }

    /// Returns the error of a file that lacks a part of what was written, without a cause from the library.
    static func unwritten() -> JobError {
        machine("a part of the document was not written, probably: No space left on device")
    }

    /// Runs a part of a job on one of its files, and makes errors name the file.
    static func naming<Value>(_ input: Int, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch var error as JobError {
            if case .other = error.failure { throw error }
            error.input = error.input ?? input
            throw error
        } catch let error as PictureHeaderError {
            switch error {
            case .truncated: throw JobError(.damaged("the picture ends too early"), input: input)
            case .malformed(let reason): throw JobError(.damaged(reason), input: input)
            case .tooManyPages: throw JobError(.damaged("a picture of several pages"), input: input)
            case .unsupported(let kind): throw JobError(.damaged("\(kind) instead of a JPEG or PNG"), input: input)
            }
        }
    }
}
