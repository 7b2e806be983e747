import Foundation

/// Scales pictures down in a child process.
public struct PictureScaler: Sendable {
    /// How a scaled picture is coded.
    public enum Coding: Sendable {
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
    public func header(of source: PictureSource) throws -> PictureHeader {
        try source.header(bench.limits)
    }

    /// Scales a picture down to at most width × height pixels, upright, in sRGB, without metadata. Of an animation the
    /// first frame is taken.
    ///
    /// - Throws: ``MediaError``: `unsupported`, `damaged`, `tooLarge`, `timedOut`, `toolMissing`, `overloaded`,
    ///   `crashed`, `failed`.
    public func scale(_ source: PictureSource, width: Int, height: Int, coding: Coding = .automatic) async throws
        -> RenderedPicture
    {
        try await bench.withFolder { folder in
            let header = try source.header(bench.limits)
            let isPNG = coding == .png || (coding == .automatic && header.mayBeTransparent)
            let input = try source.place(in: folder, as: "in")
            let output = folder.path(isPNG ? "out.png" : "out.jpg")
            let options = isPNG ? "[strip,bitdepth=8,compression=6]" : "[Q=80,strip,optimize-coding,background=255]"
            let size = ["\(max(1, width))", "--height", "\(max(1, height))", "--size", "down"]
            // Colours without a profile are sRGB already; libvips would convert them through L*a*b* and change them.
            let colors = header.hasProfile ? ["--export-profile", "srgb"] : []
            try await bench.vips(
                ["thumbnail", input, output + options] + size + colors + ["--fail-on", "truncated"],
                in: folder,
                header
            )
            return try RenderedPicture(file: output)
        }
    }
}

extension ToolRunner {
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
            let text = outcome.errors
            // The header is valid, so that the library lacks the codec.
            if text.contains("is not a known file format") || text.contains("Unsupported codec") {
                throw MediaError.unsupported(
                    "\(header.format.rawValue.uppercased()), which the installed libvips cannot decode"
                )
            }
            throw MediaError.damaged("the \(header.format.rawValue.uppercased()) cannot be decoded")
        }
        return outcome.errors
    }
}
