import Foundation

extension PDFTool {
    /// Runs the worker on a job.
    ///
    /// - Parameters:
    ///   - folder: the directory of the job, which has its inputs.
    ///   - inputs: number of files of the job; of more than one, an error names the file.
    ///   - pictures: number of those that the worker decodes; each has the time of a decoder.
    ///   - isShort: whether the job ends soon.
    /// - Throws: ``MediaError``; ``MediaError/OfInput`` if there is more than one input.
    func work(
        _ job: PDFJob,
        in folder: JobDirectory,
        inputs: Int = 1,
        pictures: Int = 0,
        isShort: Bool = false,
        progress: Progress?
    ) async throws -> PDFDocumentSummary {
        let description = try folder.write(try JSONEncoder().encode(job), as: "job.json")
        let decoder = JSONDecoder()
        let limits = bench.limits.pdfWorker(pictures: pictures)
        let outcome = try await bench.run(.pdfWorker, [description], in: folder, limits, isShort: isShort) { line in
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
