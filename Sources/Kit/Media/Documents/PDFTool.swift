package import Foundation
import Synchronization

/// Makes and changes PDFs, by one `larder-pdf-worker` a job. The server itself reads no byte of a PDF.
///
/// Each method that writes puts its result on the disk and renames it to the destination, whose directory must exist.
/// It replaces a file there; if it throws, nothing has changed there. Results are deterministic: the same input gives
/// the same bytes.
package struct PDFTool: Sendable {
    /// Receives the progress of a job; on any thread.
    package typealias Progress = @Sendable (JobProgress) -> Void

    let bench: ToolRunner

    /// Checks a document and returns its pages and its title.
    ///
    /// - Throws: ``MediaError``: `unsupported` if it does not begin as a PDF does, `encrypted`, `damaged`,
    ///   `tooManyPages`, `tooLarge`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`.
    package func inspect(_ file: URL) async throws -> PDFDocumentSummary {
        try await bench.withFolder { folder in
            try check(file)
            let input = try folder.link(file, as: "in.pdf")
            return try await work(
                .inspect(.init(file: input, maximumPages: bench.limits.pdfPages)),
                in: folder,
                progress: nil
            )
        }
    }

    /// Makes a document of pages of others, in this order. Parts that belong to no page are left out: outlines, fields
    /// of forms, attachments, scripts, and the layers of all sources but the first that has some.
    ///
    /// - Parameters:
    ///   - pages: the pages; nil for all pages of all sources.
    ///   - title: nil keeps the title of the first source.
    ///   - isImport: whether the sources are a client's: then the result is read as a whole, and refused as `damaged`
    ///     if a part of it cannot be read.
    ///   - keepsMetadata: whether photos on the pages keep their metadata: time, camera, position of the photographer.
    ///   - password: opens encrypted sources; the result is not encrypted.
    /// - Throws: the errors of ``inspect(_:)``, and `noSuchPage`; of several sources as ``MediaError/OfInput``.
    package func compose(
        _ pages: [ComposedPage]?,
        of sources: [URL],
        title: String? = nil,
        isImport: Bool = false,
        keepsMetadata: Bool = false,
        password: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        if let pages, pages.count > bench.limits.pdfPages {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        return try await bench.withFolder { folder in
            let bytes = try sources.enumerated().reduce(0) { bytes, source in
                try bytes + check(source.element, at: source.offset, of: sources.count)
            }
            // How long a client's document takes does not follow from its size.
            let isShort = !isImport && bytes <= bench.limits.shortBytes
            let job = PDFJob.Compose(
                sources: try sources.enumerated().map { try folder.link($1, as: "in\($0).pdf") },
                pages: pages,
                title: title,
                output: folder.path("out.pdf"),
                maximumPages: bench.limits.pdfPages,
                isChecked: isImport,
                keepsMetadata: keepsMetadata
            )
            let summary = try await work(
                .compose(job),
                in: folder,
                inputs: sources.count,
                isShort: isShort,
                password: password,
                progress: progress
            )
            try FinishedFile.move(job.output, to: destination)
            return summary
        }
    }

    private func check(_ file: URL, at index: Int, of count: Int) throws -> Int {
        guard count > 1 else { return try check(file) }
        return try MediaError.OfInput.naming(index) { try check(file) }
    }

    /// Checks the size and the first bytes of a document, and nothing else.
    ///
    /// - Returns: its size in bytes.
    @discardableResult
    private func check(_ file: URL) throws -> Int {
        let source = try FileBytes(file)
        guard source.count <= bench.limits.pdfBytes else {
            throw MediaError.tooLarge(.bytes(limit: bench.limits.pdfBytes))
        }
        guard PDFSignature.isIn(try source.bytes(0..<(PDFSignature.searchedLength + PDFSignature.bytes.count))) else {
            throw MediaError.unsupported("a file that does not begin as a PDF does")
        }
        return source.count
    }
}

extension PDFTool {
    /// Typesets text on A4 pages; right-to-left paragraphs are aligned right. Characters that no installed font has are
    /// left out and listed in the summary.
    ///
    /// - Parameters:
    ///   - text: paragraphs separated by line breaks.
    ///   - locale: BCP 47 language tag, such as `ja`, by which fonts select the shapes of letters.
    /// - Throws: ``MediaError``: `tooLarge(.text)`, `tooManyPages`, `timedOut`, `toolMissing`, `overloaded`, `crashed`,
    ///   `failed`, `noGlyphs`.
    package func textPages(
        _ text: String,
        locale: String? = nil,
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        guard text.utf8.count <= bench.limits.textBytes else {
            throw MediaError.tooLarge(.text(limit: bench.limits.textBytes))
        }
        return try await bench.withFolder { folder in
            let output = folder.path("out.pdf")
            let job = PDFJob.Text(
                text: text,
                locale: locale,
                title: title,
                output: output,
                maximumPages: bench.limits.textPages
            )
            let summary = try await work(
                .text(job),
                in: folder,
                isShort: text.utf8.count <= Self.shortText,
                progress: progress
            )
            try FinishedFile.move(output, to: destination)
            return summary
        }
    }

    /// Bytes of a text whose work is short.
    private static let shortText = 16 << 10

    /// Returns the characters of a text that no installed font has.
    package func missingGlyphs(in text: String) async throws -> [String] {
        try await bench.withFolder { folder in
            try await work(.glyphs(text: text), in: folder, isShort: true, progress: nil).missingGlyphs
        }
    }

    /// Runs a worker process on a job.
    ///
    /// - Parameters:
    ///   - folder: the directory of the job, which has its inputs.
    ///   - inputs: number of files of the job; of more than one, an error names the file.
    ///   - pictures: number of those that the worker decodes; each has the time of a decoder.
    ///   - isShort: whether the job ends soon.
    ///   - password: opens the sources. No file has it, because a killed Larder leaves the files of its jobs.
    /// - Throws: ``MediaError``; ``MediaError/OfInput`` if there is more than one input.
    func work(
        _ job: PDFJob,
        in folder: JobDirectory,
        inputs: Int = 1,
        pictures: Int = 0,
        isShort: Bool = false,
        password: String? = nil,
        progress: Progress?
    ) async throws -> PDFDocumentSummary {
        let description = try folder.write(try JSONEncoder().encode(job), as: "job.json")
        let decoder = JSONDecoder()
        let limits = bench.limits.pdfWorker(pictures: pictures)
        let environment = password.map { [PDFJob.passwordVariable: $0] } ?? [:]
        let outcome = try await bench.run(
            .pdfWorker,
            [description],
            in: folder,
            limits,
            environment: environment,
            isShort: isShort
        ) { line in
            guard let progress,
                case .progress(let done, let total) = try? decoder.decode(PDFWorkerMessage.self, from: Data(line.utf8))
            else { return }
            progress(JobProgress(done: done, total: total))
        }
        let last = outcome.output.split(separator: 0x0A).last.map { Data($0) } ?? Data()
        switch (outcome.ending, try? decoder.decode(PDFWorkerMessage.self, from: last)) {
        case (.exited(PDFWorkerMessage.ExitCode.done), .done(let summary)): return summary
        case (.exited(PDFWorkerMessage.ExitCode.failed), .failed(let failure, let input)):
            if let input, inputs > 1 { throw MediaError.OfInput(index: input, error: MediaError(failure)) }
            throw MediaError(failure)
        default: throw MediaError.failed(.pdfWorker, "ended with \(outcome.ending): \(outcome.errors.prefix(500))")
        }
    }
}

extension MediaError {
    /// Translates a failure that the worker has reported.
    init(_ failure: PDFFailure) {
        self =
            switch failure {
            case .damaged(let reason): .damaged(reason)
            case .encrypted: .encrypted
            case .tooManyPages(let limit): .tooManyPages(limit: limit)
            case .noSuchPage(let number): .noSuchPage(number)
            case .noGlyphs: .noGlyphs
            case .timedOut: .timedOut(.pdfWorker)
            case .other(let reason): .failed(.pdfWorker, reason)
            }
    }
}

/// Counts steps that are completed in any order, and reports each.
final class ProgressCounter: Sendable {
    private let done = Mutex(0)
    private let total: Int
    private let report: PDFTool.Progress?

    init(total: Int, report: PDFTool.Progress?) {
        self.total = total
        self.report = report
    }

    /// Counts a step, other than the last one. Reports are in order, because the lock is held meanwhile.
    func step() {
        done.withLock { done in
            guard done < total - 1 else { return }
            done += 1
            report?(JobProgress(done: done, total: total))
        }
    }

    /// Reports that all steps are completed.
    func finish() {
        done.withLock { done in
            done = total
            report?(JobProgress(done: done, total: total))
        }
    }
}
