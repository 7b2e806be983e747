public import Foundation

extension PDFTool {
    /// Makes a document of pictures, one page each, in their order.
    ///
    /// The data of a JPEG goes in unchanged; so do the pixels of a PNG that PDF can hold as it is. Other pictures, and
    /// those with transparency, are decoded by `vips` first: HEIC, AVIF and lossy WebP become JPEG of quality 92,
    /// all others stay lossless; transparent pixels become white. Of an animation the first frame is taken. Every
    /// picture is decoded once, so that truncated and broken ones are refused.
    ///
    /// - Throws: ``MediaError/OfInput`` for an error of one picture, also of a single one; ``MediaError``:
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
        // All heads are checked before anything is decoded.
        let headers = try pictures.enumerated().map { index, picture in
            try MediaError.OfInput.naming(index) { try picture.header(bench.limits) }
        }
        return try await bench.withFolder { folder in
            // Decoding is most of the work: one step for each picture, and one for writing.
            let counter = ProgressCounter(total: pictures.count + 1, report: progress)
            let files = try await embeddable(Array(zip(pictures, headers)), in: folder, counter)
            let output = folder.path("out.pdf")
            let job = PDFJob.Pictures(files: files, layout: layout, title: title, output: output)
            let summary: PDFDocumentSummary
            do {
                summary = try await work(.pictures(job), in: folder, inputs: pictures.count, progress: nil)
            } catch MediaError.damaged(let reason) where pictures.count == 1 {
                throw MediaError.OfInput(index: 0, error: .damaged(reason))
            }
            try FinishedFile.move(output, to: destination)
            counter.step()
            return summary
        }
    }

    /// Returns the paths of the files to embed. At most as many pictures are decoded at a time as children may run: a
    /// document of many pictures must not fill the queue.
    private func embeddable(
        _ pictures: [(source: PictureSource, header: PictureHeader)],
        in folder: JobDirectory,
        _ counter: ProgressCounter
    ) async throws -> [String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { tasks in
            var files = [String](repeating: "", count: pictures.count)
            var rest = pictures.enumerated().makeIterator()
            func start() {
                guard let (index, picture) = rest.next() else { return }
                tasks.addTask {
                    let file = try await MediaError.OfInput.naming(index) {
                        let embeddable = EmbeddablePicture(bench: bench, folder: folder, index: index)
                        return try await embeddable.make(picture.source, picture.header)
                    }
                    counter.step()
                    return (index, file)
                }
            }
            for _ in 0..<bench.limits.children { start() }
            while let (index, file) = try await tasks.next() {
                files[index] = file
                start()
            }
            return files
        }
    }
}
