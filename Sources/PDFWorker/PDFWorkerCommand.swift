import CQPDF
import Foundation
import MediaFormats

/// `larder-pdf-worker job.json`: runs one job, writes its progress and its result to standard output, and exits.
@main
struct PDFWorkerCommand {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let argument = arguments.first, arguments.count == 1 else { exit(usage()) }
        if argument == "--version" {
            let qpdf = String(cString: qpdf_get_qpdf_version())
            let pango = TextPages.pangoVersion.map { "pango \($0)" } ?? "without pango"
            print("larder-pdf-worker with qpdf \(qpdf), \(pango)")
            exit(PDFWorkerMessage.ExitCode.done)
        }
        guard let data = try? Data(contentsOf: URL(filePath: argument)),
            let job = try? JSONDecoder().decode(PDFJob.self, from: data)
        else { exit(usage()) }
        do {
            Messages.send(.done(try JobRunner(job: job).run()))
            exit(PDFWorkerMessage.ExitCode.done)
        } catch let error as JobError {
            Messages.send(.failed(error.failure, input: error.input))
        } catch {
            Messages.send(.failed(.other("\(error)"), input: nil))
        }
        exit(PDFWorkerMessage.ExitCode.failed)
    }

    private static func usage() -> Int32 {
        try? FileHandle.standardError.write(
            contentsOf: Data("usage: larder-pdf-worker job.json   (Larder writes the file; see PDFJob)\n".utf8)
        )
        return PDFWorkerMessage.ExitCode.usage
    }
}

struct JobRunner {
    let job: PDFJob

    func run() throws -> PDFDocumentSummary {
        switch job {
        case .pictures(let job): try PictureDocument(job: job).make()
        case .compose(let job): try ComposedDocument(job: job).make()
        case .text(let job): try text(job)
        case .inspect(let job): try PDFFile(reading: job.file, maximumPages: job.maximumPages).summary()
        case .glyphs(let text): PDFDocumentSummary(pages: [], missingGlyphs: try TextPages.missingCharacters(of: text))
        }
    }

    private func text(_ job: PDFJob.Text) throws -> PDFDocumentSummary {
        let drawn = job.output + ".drawn"
        defer { try? FileManager.default.removeItem(atPath: drawn) }
        let missing = try TextPages(text: job.text, locale: job.locale, maximumPages: job.maximumPages).draw(to: drawn)
        // qpdf writes the document again, because cairo writes some resources twice, and a creation date that would
        // differ in each result.
        let clean = PDFJob.Compose(
            sources: [drawn],
            pages: nil,
            title: job.title ?? "",
            output: job.output,
            maximumPages: job.maximumPages
        )
        var summary = try ComposedDocument(job: clean, isTypeset: true).make()
        summary.missingGlyphs = missing
        return summary
    }
}

/// Messages to the process that has started the worker, one per line.
enum Messages {
    static func send(_ message: PDFWorkerMessage) {
        guard let line = try? JSONEncoder().encode(message) else { return }
        // An error is ignored: if there is no reader, the exit code suffices.
        try? FileHandle.standardOutput.write(contentsOf: line + [0x0A])
    }
}

/// A failure that the worker reports, with the file that has caused it.
struct JobError: Error, Equatable {
    var failure: PDFFailure
    /// Position of the file, from 0.
    var input: Int?

    init(_ failure: PDFFailure, input: Int? = nil) {
        self.failure = failure
        self.input = input
    }

    static func damaged(_ reason: String) -> JobError { JobError(.damaged(reason)) }

    /// Returns an error of the machine. The server recognises it by its text on standard error.
    static func machine(_ reason: String) -> JobError {
        try? FileHandle.standardError.write(contentsOf: Data("\(reason)\n".utf8))
        return JobError(.other(reason))
    }

    static func outOfMemory() -> JobError { machine("out of memory") }

    /// Returns the error of a file in which a part of the written data is missing, without a cause from the library.
    static func unwritten() -> JobError {
        machine("a part of the document was not written, probably: No space left on device")
    }

    /// Runs a part of a job on one of its files, and adds the file to errors.
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
