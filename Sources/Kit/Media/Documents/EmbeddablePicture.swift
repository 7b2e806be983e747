import Foundation

/// Makes of any accepted picture a JPEG or PNG that PDF can hold as it is.
struct EmbeddablePicture {
    let bench: ToolRunner
    let folder: JobDirectory
    /// Position among the pictures of the job; in the names of its files.
    let index: Int

    /// Decodes the picture once, and gives the path of what is to be embedded: the picture itself wherever that is
    /// possible.
    func make(_ picture: PictureSource, _ header: PictureHeader) async throws -> String {
        let input = try picture.place(in: folder, as: "in\(index)")
        if header.isEmbeddable {
            // Decoded at an eighth where the format allows that: enough to meet every byte.
            try await thumbnail(input, to: "check\(index).png[compression=1]", width: 64, header)
            try? FileManager.default.removeItem(atPath: folder.path("check\(index).png"))
            return input
        }
        if header.isLossy && !header.mayBeTransparent {
            return try await thumbnail(input, to: "out\(index).jpg[Q=92,optimize-coding]", width: Self.asItIs, header)
        }
        guard header.mayBeTransparent else {
            return try await thumbnail(input, to: "out\(index).png[compression=6]", width: Self.asItIs, header)
        }
        let upright = try await thumbnail(input, to: "upright\(index).tif", width: Self.asItIs, header)
        let output = folder.path("out\(index).png")
        let white = header.bitsPerSample > 8 ? "65535" : "255"
        // `vips flatten` takes the last band for transparency, whatever it is: an opaque GIF, of which the head says no
        // more than that it may be transparent, would lose its blue.
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
    private static let asItIs = 10_000_000

    /// Warnings of libjpeg's (jerror.h: JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE) by which parts of a picture are missing.
    private static let losses = [
        "Corrupt JPEG data: premature end of data segment", "Corrupt JPEG data: bad Huffman code",
    ]

    /// `vips thumbnail` turns upright, brings CMYK to RGB, and fails on files that are cut short, which `vips copy`
    /// does not.
    @discardableResult
    private func thumbnail(_ input: String, to output: String, width: Int, _ header: PictureHeader) async throws
        -> String
    {
        let path = folder.path(output)
        let size = ["\(width)", "--height", "\(width)", "--size", "down"]
        let said = try await bench.vips(
            ["thumbnail", input, path] + size + ["--fail-on", "truncated"],
            in: folder,
            header
        )
        // To libjpeg a photo that ends early is whole as long as its end is marked, and what cannot be decoded is grey:
        // it only warns of that. It warns of harmless things, too, so that `--fail-on warning` would refuse photos that
        // are as they should be.
        guard !Self.losses.contains(where: said.contains) else {
            throw MediaError.damaged("data of the JPEG are missing or broken")
        }
        return String(path.prefix { $0 != "[" })
    }
}

extension PictureHeader {
    /// Whether PDF holds its data as they are.
    var isEmbeddable: Bool {
        switch format {
        case .jpeg: jpeg?.isEmbeddable ?? false
        case .png: !mayBeTransparent && !isInterlaced && !hasOrientation
        default: false
        }
    }

    /// Whether its coding loses detail anyway, so that a JPEG of high quality does no harm and saves much.
    var isLossy: Bool {
        switch format {
        case .jpeg, .heic, .avif: true
        case .webp: !isLossless
        case .png, .gif, .tiff: false
        }
    }
}
