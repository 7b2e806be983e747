import Foundation

/// Converts an accepted picture to a JPEG or PNG that can be embedded in a PDF as it is.
struct EmbeddablePicture {
    let bench: ToolRunner
    let folder: JobDirectory
    /// Position among the pages of the job; part of the names of its files.
    let index: Int
    var options = PictureOptions()

    /// Returns the file to embed: the picture itself if that is possible, which the worker checks then.
    ///
    /// - Throws: ``MediaError``.
    func make(_ picture: PictureSource, _ header: PictureHeader) async throws -> PDFJob.Picture {
        let input = try place(picture, header)
        // A picture of two colours is smallest, and most legible, as it is.
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
    /// Whether its data can be embedded in a PDF as they are.
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
