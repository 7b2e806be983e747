package import Foundation

extension PDFTool {
    /// Makes a document of pictures, one page each, in their order; of a TIFF every page.
    ///
    /// JPEG data is embedded unchanged except for its metadata, and so are the pixels of a PNG that PDF can hold. Other
    /// pictures, and those with transparency, are decoded by `vips` first. HEIC, AVIF and lossy WebP become JPEG of
    /// quality 92; all others stay lossless, in as few bytes as PDF's filters allow. Transparent pixels become white.
    /// Of an animation or a burst the first picture is taken, and the summary has a notice of it. Every picture is
    /// decoded once, an unchanged one by the worker, so that truncated and broken ones are refused.
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

/// Options of the pages that are made of pictures.
package struct PictureOptions: Sendable, Equatable {
    /// The resolution and the coding of an embedded picture.
    package enum Quality: String, Sendable, CaseIterable {
        /// The picture is not reduced; data that PDF can hold are embedded unchanged.
        case original
        /// JPEG for printing: 300 pixels an inch of A4.
        case high
        /// JPEG for reading: 200 pixels an inch of A4.
        case medium
        /// JPEG for sending: 120 pixels an inch of A4.
        case low

        /// The longer side in pixels, and the quality of the JPEG; nil for no change.
        var coding: (longest: Int, quality: Int)? {
            switch self {
            case .original: nil
            case .high: (3508, 88)
            case .medium: (2339, 80)
            case .low: (1403, 65)
            }
        }
    }

    /// Size of the pages, and margins.
    package var layout: PageLayout
    package var quality: Quality
    /// Whether photos keep their metadata: time, camera, position of the photographer.
    package var keepsMetadata: Bool

    package init(layout: PageLayout = .fit, quality: Quality = .original, keepsMetadata: Bool = false) {
        self.layout = layout
        self.quality = quality
        self.keepsMetadata = keepsMetadata
    }
}

/// Converts an accepted picture to a JPEG or PNG that can be embedded in a PDF unchanged.
struct EmbeddablePicture {
    let bench: ToolRunner
    let folder: JobDirectory
    /// Position among the pages of the job; part of the names of its files.
    let index: Int
    var options = PictureOptions()

    /// Returns the file to embed: the picture itself if that is possible, which the worker checks then.
    func make(_ picture: PictureSource, _ header: PictureHeader) async throws -> PDFJob.Picture {
        let input = try place(picture, header)
        // A picture of two colours is smallest, and most legible, unchanged.
        let coding = header.bitsPerSample == 1 ? nil : options.quality.coding
        var made = PDFJob.Picture(
            path: input,
            origin: .client,
            pixelAspect: header.pixelAspect,
            gamma: header.gamma
        )
        if !header.isEmbeddable {
            guard !header.isLossy || header.mayBeTransparent else {
                made.origin = .encoder
                made.path = try await jpeg(of: input, coding ?? (Self.unlimited, 92), header)
                return made
            }
            made.origin = .decoder
            made.path = try await lossless(input, header)
        }
        if let coding {
            let decoded =
                made.origin == .client ? header : try PictureHeader(of: FileBytes(URL(filePath: made.path)))
            made.reduced = try await jpeg(of: made.path, coding, decoded)
        }
        return made
    }

    private func jpeg(of picture: String, _ coding: (longest: Int, quality: Int), _ header: PictureHeader) async throws
        -> String
    {
        let output = "out\(index).jpg[Q=\(coding.quality),optimize-coding]"
        return try await thumbnail(picture, to: output, width: coding.longest, header)
    }

    /// Decodes a picture without loss. The worker compresses the pixels as well as PDF can, and reads no filtered
    /// lines.
    private func lossless(_ input: String, _ header: PictureHeader) async throws -> String {
        let output = "out\(index).png[compression=1,filter=none]"
        return header.mayBeTransparent
            ? try await opaque(input, header, to: output)
            : try await thumbnail(input, to: output, width: Self.unlimited, header)
    }

    /// Links or writes the picture in the directory of the job. A JPEG that does not end with the marker for its end
    /// gets one, as every viewer adds it; whether anything before it is missing shows in decoding.
    private func place(_ picture: PictureSource, _ header: PictureHeader) throws -> String {
        guard header.format == .jpeg else { return try picture.place(in: folder, as: "in\(index)", header) }
        let end: [UInt8] = [0xFF, 0xD9]
        let bytes = try picture.open()
        guard try bytes.bytes((bytes.count - end.count)..<bytes.count) != end else {
            return try picture.place(in: folder, as: "in\(index)", header)
        }
        return try folder.write(Data(try bytes.bytes(0..<bytes.count) + end), as: "in\(index)")
    }

    /// Decodes a picture that may be transparent, and puts it on white.
    private func opaque(_ input: String, _ header: PictureHeader, to output: String) async throws -> String {
        let upright = try await thumbnail(input, to: "upright\(index).tif", width: Self.unlimited, header)
        let white = header.bitsPerSample > 8 ? "65535" : "255"
        // `vips flatten` takes the last band for transparency in every case: an opaque GIF, of which the header says
        // only that it may be transparent, would lose its blue.
        let isTransparent = try PictureHeader(of: FileBytes(URL(filePath: upright))).mayBeTransparent
        let path = folder.path(output)
        let operation =
            isTransparent ? ["flatten", upright, path, "--background", white] : ["copy", upright, path]
        try await bench.vips(operation, in: folder, header)
        try? FileManager.default.removeItem(atPath: upright)
        return String(path.prefix { $0 != "[" })
    }

    /// Wider than any picture can be.
    private static let unlimited = 10_000_000

    /// Warnings of libjpeg (jerror.h: JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE) that mean missing parts of a picture.
    private static let losses = [
        "Corrupt JPEG data: premature end of data segment", "Corrupt JPEG data: bad Huffman code",
    ]

    /// Decodes the picture, at most so wide and high.
    ///
    /// - Returns: the path of the result.
    @discardableResult
    private func thumbnail(_ input: String, to output: String, width: Int, _ header: PictureHeader) async throws
        -> String
    {
        let path = folder.path(output)
        let warnings = try await bench.thumbnail(of: input, to: path, (width, width), in: folder, header)
        // libjpeg only warns of a photo that ends early with an end marker, and of parts that it cannot decode, which
        // become grey. It also has harmless warnings, so that `--fail-on warning` would refuse valid photos.
        guard !Self.losses.contains(where: warnings.contains) else {
            throw MediaError.damaged("data of the JPEG are missing or broken")
        }
        return String(path.prefix { $0 != "[" })
    }
}

extension PictureHeader {
    /// Whether its data can be embedded in a PDF unchanged.
    var isEmbeddable: Bool {
        switch format {
        case .jpeg: jpeg?.isEmbeddable ?? false
        case .png: !mayBeTransparent && !isInterlaced && !hasOrientation
        default: false
        }
    }

    /// Whether its coding is lossy, so that a JPEG of high quality does no harm and saves much space.
    var isLossy: Bool {
        switch format {
        case .jpeg, .heic, .avif: true
        case .webp: !isLossless
        case .png, .gif, .tiff: false
        }
    }
}
