import Foundation

extension PDFTool {
    /// Runs the worker on a job.
    ///
    /// - Parameter inputs: how many files the job has; with more than one, an error says which.
    func work(_ job: PDFJob, in folder: JobDirectory, inputs: Int = 1, progress: Progress?) async throws
        -> PDFDocumentSummary
    {
        let description = try folder.write(try JSONEncoder().encode(job), as: "job.json")
        let decoder = JSONDecoder()
        let outcome = try await bench.run(.pdfWorker, [description], in: folder) { line in
            guard let progress,
                case .progress(let done, let total) = try? decoder.decode(PDFWorkerMessage.self, from: Data(line.utf8))
            else { return }
            progress(JobProgress(done: done, total: total))
        }
        let last = outcome.output.split(separator: 0x0A).last.map { Data($0) } ?? Data()
        switch (outcome.ending, try? decoder.decode(PDFWorkerMessage.self, from: last)) {
        case (.exited(PDFWorkerMessage.ExitCode.done), .done(let summary)): return summary
        case (.exited(PDFWorkerMessage.ExitCode.failed), .failed(let failure, let input)):
            let error = failure.error
            if let input, inputs > 1 { throw MediaError.OfInput(index: input, error: error) }
            throw error
        default: throw MediaError.failed(.pdfWorker, "ended with \(outcome.ending): \(outcome.errors.prefix(500))")
        }
    }

    /// Says which of several inputs an error is about.
    func ofInput<Value>(_ index: Int, of count: Int, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MediaError where count > 1 {
            throw MediaError.OfInput(index: index, error: error)
        }
    }
}

extension PDFFailure {
    /// As the server knows it.
    var error: MediaError {
        switch self {
        case .damaged(let reason): .damaged(reason)
        case .encrypted: .encrypted
        case .tooManyPages(let limit): .tooManyPages(limit: limit)
        case .noSuchPage(let number): .noSuchPage(number)
        case .noGlyphs: .noGlyphs
        case .other(let reason): .failed(.pdfWorker, reason)
        }
    }
}
