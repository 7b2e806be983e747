import Foundation

/// Converts an accepted picture to a JPEG or PNG that can be embedded in a PDF as it is.
struct EmbeddablePicture {
    let bench: ToolRunner
    let folder: JobDirectory
    /// Position among the pictures of the job; part of the names of its files.
    let index: Int

    /// Decodes the picture once, and returns the path of the file to embed: the picture itself if that is possible.
    ///
    /// - Throws: ``MediaError``.
    func make(_ picture: PictureSource, _ header: PictureHeader) async throws -> String {
        let input = try picture.place(in: folder, as: "in\(index)")
        if header.isEmbeddable {
            // Decoded at an eighth if the format allows that, which reads every byte.
            try await thumbnail(input, to: "check\(index).png[compression=1]", width: 64, header)
            try? FileManager.default.removeItem(atPath: folder.path("check\(index).png"))
            return input
        }
        if header.isLossy && !header.mayBeTransparent {
            return try await thumbnail(
                input,
                to: "out\(index).jpg[Q=92,optimize-coding]",
                width: Self.unlimited,
                header
            )
        }
        guard header.mayBeTransparent else {
            return try await thumbnail(input, to: "out\(index).png[compression=6]", width: Self.unlimited, header)
        }
        return try await opaque(input, header)
    }

    /// Decodes a picture that may be transparent, and puts it on white.
    private func opaque(_ input: String, _ header: PictureHeader) async throws -> String {
        let upright = try await thumbnail(input, to: "upright\(index).tif", width: Self.unlimited, header)
        let output = folder.path("out\(index).png")
        let white = header.bitsPerSample > 8 ? "65535" : "255"
        // `vips flatten` takes the last band for transparency in every case: an opaque GIF, of which the header says
        // only that it may be transparent, would lose its blue.
        let isTransparent = try PictureHeader(of: FileBytes(URL(filePath: upright))).mayBeTransparent
        let operation =
            isTransparent
            ? ["flatten", upright, output + "[compression=6]", "--background", white]
            : ["copy", upright, output + "[compression=6]"]
        try await bench.vips(operation, in: folder, header)
        try? FileManager.default.removeItem(atPath: upright)
        return output
    }

    /// Wider than any picture can be.
    private static let unlimited = 10_000_000

    /// Warnings of libjpeg (jerror.h: JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE) that mean missing parts of a picture.
    private static let losses = [
        "Corrupt JPEG data: premature end of data segment", "Corrupt JPEG data: bad Huffman code",
    ]

    /// `vips thumbnail` turns upright, converts CMYK to RGB, and unlike `vips copy` fails on truncated files.
    @discardableResult
    private func thumbnail(_ input: String, to output: String, width: Int, _ header: PictureHeader) async throws
        -> String
    {
        let path = folder.path(output)
        let size = ["\(width)", "--height", "\(width)", "--size", "down"]
        let warnings = try await bench.vips(
            ["thumbnail", input, path] + size + ["--fail-on", "truncated"],
            in: folder,
            header
        )
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
