package import Foundation

extension PDFTool {
    /// Makes a document of pictures, one page each, in their order; of a TIFF every page.
    ///
    /// JPEG data is embedded unchanged except for its metadata; so do the pixels of a PNG that PDF can hold as it is.
    /// Other pictures, and those with transparency, are decoded by `vips` first: HEIC, AVIF and lossy WebP become JPEG
    /// of quality 92, all others stay lossless, in as few bytes as PDF's filters allow; transparent pixels become
    /// white. Of an animation or a burst the first picture is taken, which a notice of the summary says. Every picture
    /// is decoded once, those that go in unchanged by the worker, so that truncated and broken ones are refused.
    ///
    /// - Throws: ``MediaError/OfInput`` for an error of one picture, also of a single one; ``MediaError``:
    ///   `tooManyPages`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`, `unavailable`.
    package func pages(
        of pictures: [PictureSource],
        options: PictureOptions = PictureOptions(),
        title: String? = nil,
        to destination: URL,
        progress: Progress? = nil
    ) async throws -> PDFDocumentSummary {
        guard pictures.count <= bench.limits.pdfPages else {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        return try await bench.withFolder { folder in
            // All heads are checked before anything is decoded.
            let pages = try self.pages(of: pictures)
            // Decoding is most of the work: one step for each page, by `vips` or the worker, and one for the result.
            let counter = ProgressCounter(total: pages.count + 1, report: progress)
            let files = try await embeddable(pages, options, in: folder, counter)
            let output = folder.path("out.pdf")
            let job = PDFJob.Pictures(
                files: files,
                layout: options.layout,
                keepsMetadata: options.keepsMetadata,
                title: title,
                output: output,
                secondsPerPicture: Int(bench.limits.vips.processor.components.seconds)
            )
            var summary = try await write(job, pages, in: folder, counter)
            summary.notices = pages.filter(\.header.hasFurtherPictures).map {
                InputNotice(input: $0.input, kind: .firstPictureOnly)
            }
            try FinishedFile.move(output, to: destination)
            counter.finish()
            return summary
        }
    }

    /// A page to be made: its picture, and the position of that among the inputs.
    private struct Page: Sendable {
        let input: Int
        let source: PictureSource
        let header: PictureHeader
    }

    private func pages(of pictures: [PictureSource]) throws -> [Page] {
        let pages = try pictures.enumerated().flatMap { index, picture in
            try MediaError.OfInput.naming(index) { try picture.pages(bench.limits) }
                .map { Page(input: index, source: picture, header: $0) }
        }
        guard pages.count <= bench.limits.pdfPages else {
            throw MediaError.tooManyPages(limit: bench.limits.pdfPages)
        }
        return pages
    }

    /// Writes the document. An error that names a page names its picture.
    private func write(
        _ job: PDFJob.Pictures,
        _ pages: [Page],
        in folder: JobDirectory,
        _ counter: ProgressCounter
    ) async throws -> PDFDocumentSummary {
        let bytes = try job.files.reduce(0) { try $0 + FileBytes(URL(filePath: $1.path)).count }
        let decoded = pages.indices.filter { job.files[$0].origin != .encoder }
        let pixels = decoded.reduce(0) { $0 + pages[$1].header.pixels }
        let isShort = bytes <= bench.limits.shortBytes && pixels <= bench.limits.shortPixels
        do {
            return try await work(
                .pictures(job),
                in: folder,
                inputs: pages.count,
                pictures: decoded.count,
                isShort: isShort
            ) { _ in counter.step() }
        } catch let error as MediaError.OfInput where pages.indices.contains(error.index) {
            throw MediaError.OfInput(index: pages[error.index].input, error: error.error)
        } catch let error as MediaError where pages.count == 1 && error.isOfInput {
            throw MediaError.OfInput(index: 0, error: error)
        }
    }

    /// Returns the files to embed. At most as many pictures are decoded at a time as children may run: a
    /// document of many pictures must not fill the queue.
    private func embeddable(
        _ pages: [Page],
        _ options: PictureOptions,
        in folder: JobDirectory,
        _ counter: ProgressCounter
    ) async throws -> [PDFJob.Picture] {
        try await withThrowingTaskGroup(of: (Int, PDFJob.Picture).self) { tasks in
            var files: [Int: PDFJob.Picture] = [:]
            var rest = pages.enumerated().makeIterator()
            func start() {
                guard let (index, page) = rest.next() else { return }
                tasks.addTask {
                    let file = try await MediaError.OfInput.naming(page.input) {
                        try await EmbeddablePicture(bench: bench, folder: folder, index: index, options: options)
                            .make(page.source, page.header)
                    }
                    if file.origin == .encoder { counter.step() }
                    return (index, file)
                }
            }
            for _ in 0..<bench.limits.children { start() }
            while let (index, file) = try await tasks.next() {
                files[index] = file
                start()
            }
            return pages.indices.compactMap { files[$0] }
        }
    }
}
