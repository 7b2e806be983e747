import Foundation

/// Scales pictures down in a child process.
package struct PictureScaler: Sendable {
    /// How a scaled picture is coded.
    package enum Coding: Sendable {
        /// JPEG; transparent pixels become white.
        case jpeg
        /// PNG with transparency.
        case png
        /// PNG if the picture may be transparent, else JPEG.
        case automatic
    }

    let bench: ToolRunner

    /// Reads the header of a picture and checks it against the limits. Nothing is decoded: the rest of the file may be
    /// broken.
    ///
    /// - Throws: ``MediaError/unsupported(_:)``, ``MediaError/damaged(_:)``, ``MediaError/tooLarge(_:)``.
    package func header(of source: PictureSource) throws -> PictureHeader {
        try source.header(bench.limits)
    }

    /// Scales a picture down to at most width × height pixels, upright, in sRGB, without metadata. Of an animation the
    /// first frame is taken.
    ///
    /// - Throws: ``MediaError``: `unsupported`, `damaged`, `tooLarge`, `timedOut`, `toolMissing`, `overloaded`,
    ///   `crashed`, `failed`.
    package func scale(_ source: PictureSource, width: Int, height: Int, coding: Coding = .automatic) async throws
        -> RenderedPicture
    {
        try await bench.withFolder { folder in
            let header = try source.header(bench.limits)
            let isPNG = coding == .png || (coding == .automatic && header.mayBeTransparent)
            let input = try source.place(in: folder, as: "in", header)
            let output = folder.path(isPNG ? "out.png" : "out.jpg")
            let options = isPNG ? "[strip,bitdepth=8,compression=6]" : "[Q=80,strip,optimize-coding,background=255]"
            // Colours without a profile are sRGB already; libvips would convert them through L*a*b* and change them.
            let colors = header.hasProfile ? ["--export-profile", "srgb"] : []
            let size = (max(1, width), max(1, height))
            try await bench.thumbnail(of: input, to: output + options, size, colors, in: folder, header)
            return try RenderedPicture(file: output)
        }
    }
}

extension ToolRunner {
    /// Scales a picture down, turns it upright, and converts CMYK to RGB; fails on truncated files.
    ///
    /// - Parameters:
    ///   - size: the largest width and height.
    ///   - options: further options of `vips thumbnail`.
    /// - Returns: the warnings of `vips`.
    /// - Throws: ``MediaError``; `CancellationError`.
    @discardableResult
    func thumbnail(
        of input: String,
        to output: String,
        _ size: (width: Int, height: Int),
        _ options: [String] = [],
        in folder: JobDirectory,
        _ header: PictureHeader
    ) async throws -> String {
        let options = ["\(size.width)", "--height", "\(size.height)", "--size", "down"] + options
        func whole(_ loading: String) async throws -> String {
            let source = "\(input)[\(loading)fail-on=truncated]"
            return try await vips(["thumbnail_image", source, output] + options, in: folder, header)
        }
        // `vips thumbnail` takes a TIFF of which each page is half as large as the one before for a single picture in
        // several sizes, and reads the smallest one, whatever page is wanted.
        guard header.format != .tiff else { return try await whole("page=\(header.page),") }
        do {
            let all = ["thumbnail", input, output] + options + ["--fail-on", "truncated"]
            return try await vips(all, in: folder, header)
        } catch MediaError.damaged where header.format == .heic || header.format == .avif {
            // It has decoded the small picture in the file, if that is large enough. libvips refuses those of Sony's
            // cameras, since their size is not the one that the file states.
            return try await whole("")
        }
    }

    /// Runs `vips` on a picture whose header was read.
    ///
    /// - Returns: its warnings.
    /// - Throws: ``MediaError``; `CancellationError`.
    @discardableResult
    func vips(_ arguments: [String], in folder: JobDirectory, _ header: PictureHeader) async throws -> String {
        // Loaders that libvips does not trust (SVG, PDF, those of ImageMagick) are blocked, and it starts no threads.
        let outcome = try await run(
            .vips,
            arguments,
            in: folder,
            environment: ["VIPS_BLOCK_UNTRUSTED": "1", "VIPS_CONCURRENCY": "1"],
            isShort: header.pixels <= limits.shortPixels
        )
        guard outcome.ending == .exited(0) else {
            let format = header.format.rawValue.uppercased()
            if Self.isOfUnknownKind(outcome.errors) { throw MediaError.undecodable(format) }
            throw MediaError.damaged("the \(format) cannot be decoded")
        }
        return outcome.errors
    }

    /// Whether the words of `vips` mean that the library lacks the codec (the header is valid); libheif the kind: an
    /// auxiliary picture of several items, before 1.18; or that it reads no such samples, or libtiff no such
    /// compression.
    private static func isOfUnknownKind(_ errors: String) -> Bool {
        [
            "is not a known file format", "heif: Unsupported", "Too many auxiliary image references",
            "Non-existing depth image referenced", "decoding is not implemented", "support is not configured",
            "unsupported tiff image type", "not a whole number of bytes", "tiff2vips: samples out of range",
            "subsampled images not supported", "not SGI-compressed LOGLUV",
        ].contains { errors.contains($0) }
    }
}
