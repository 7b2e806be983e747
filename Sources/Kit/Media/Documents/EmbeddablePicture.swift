import Foundation

/// Makes of any accepted picture a JPEG or PNG that PDF can hold as it is.
struct EmbeddablePicture {
    let bench: Workbench
    let folder: WorkFolder
    /// Position among the pictures of the job; in the names of its files.
    let index: Int

    /// Decodes the picture once, and gives the path of what is to be embedded: the picture itself wherever that is possible.
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
        try await bench.vips(["flatten", upright, output + "[compression=6]", "--background", white], in: folder, header)
        try? FileManager.default.removeItem(atPath: upright)
        return output
    }

    /// Wider than any picture can be.
    private static let asItIs = 10_000_000

    /// `vips thumbnail` turns upright, brings CMYK to RGB, and fails on files that are cut short, which `vips copy` does not.
    @discardableResult
    private func thumbnail(_ input: String, to output: String, width: Int, _ header: PictureHeader) async throws -> String {
        let path = folder.path(output)
        try await bench.vips(["thumbnail", input, path, "\(width)", "--height", "\(width)", "--size", "down", "--fail-on", "truncated"], in: folder, header)
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
