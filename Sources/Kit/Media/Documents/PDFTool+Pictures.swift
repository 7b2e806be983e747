public import Foundation

extension PDFTool {
    /// Pictures as pages, one each, in their order.
    ///
    /// The data of a JPEG goes in unchanged; so do the pixels of a PNG that PDF can hold as it is. Other pictures, and
    /// those with transparency, are decoded by `vips` first: HEIC, AVIF and lossy WebP become JPEG of quality 92,
    /// everything else stays lossless; transparent becomes white. Of moving pictures the first frame is taken. Every
    /// picture is decoded once, so that none that is cut short or broken gets in.
    ///
    /// - Throws: ``MediaError/OfInput`` for what is wrong with one picture (with a single one too); ``MediaError``:
    ///   `tooManyPages`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`.
    public func pages(
        of pictures: [PictureSource],
        layout: PageLayout = .fit,
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        guard pictures.count <= bench.limits.pdfPages else {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        // All heads first: what they refuse costs nothing.
        let headers = try pictures.enumerated().map { index, picture in
            try OfInputError.naming(index) { try picture.header(bench.limits) }
        }
        return try await bench.withFolder { folder in
            // Decoding is most of the work: a step for each picture, and one for writing.
            let counter = ProgressCounter(total: pictures.count + 1, report: progress)
            let files = try await withThrowingTaskGroup(of: (Int, String).self) { tasks in
                var files = [String](repeating: "", count: pictures.count)
                var next = 0
                func start() {
                    guard next < pictures.count else { return }
                    let index = next
                    next += 1
                    tasks.addTask {
                        let file = try await OfInputError.naming(index) {
                            try await EmbeddablePicture(bench: bench, folder: folder, index: index).make(
                                pictures[index],
                                headers[index]
                            )
                        }
                        counter.step()
                        return (index, file)
                    }
                }
                // No more at a time than there are children: a document of many pictures must not fill the queue.
                for _ in 0..<bench.limits.children { start() }
                while let (index, file) = try await tasks.next() {
                    files[index] = file
                    start()
                }
                return files
            }
            let output = folder.path("out.pdf")
            let job = PDFJob.Pictures(files: files, layout: layout, title: title, output: output)
            let summary: PDFDocumentSummary
            do {
                summary = try await work(.pictures(job), in: folder, inputs: pictures.count, progress: nil)
            } catch let error as MediaError where pictures.count == 1 {
                if case .damaged = error { throw MediaError.OfInput(index: 0, error: error) }
                throw error
            }
            try FinishedFile.move(output, to: destination)
            counter.step()
            return summary
        }
    }
}

/// Turns the error of one input into one that names it.
enum OfInputError {
    static func naming<Value>(_ index: Int, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as MediaError { throw naming(index, error) }
    }

    static func naming<Value>(_ index: Int, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as MediaError { throw naming(index, error) }
    }

    /// What is wrong with the machine or the load is not wrong with a picture.
    private static func naming(_ index: Int, _ error: MediaError) -> any Error {
        switch error {
        case .toolMissing, .overloaded, .failed: error
        default: MediaError.OfInput(index: index, error: error)
        }
    }
}
