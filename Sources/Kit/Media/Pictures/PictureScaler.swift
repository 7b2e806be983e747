package import Foundation

/// Scales pictures down in a child process.
package struct PictureScaler: Sendable {
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
        // `vips thumbnail` takes a TIFF for a single picture in several sizes if each page is half as large as the one
        // before. Then it reads the smallest one, whatever page is wanted.
        guard header.format != .tiff else { return try await whole("page=\(header.page),") }
        do {
            let all = ["thumbnail", input, output] + options + ["--fail-on", "truncated"]
            return try await vips(all, in: folder, header)
        } catch MediaError.damaged where header.format == .heic || header.format == .avif {
            // `vips thumbnail` has decoded the small picture in the file, if that is large enough. libvips refuses
            // those of Sony's cameras, since their size is not the one that the file declares.
            return try await whole("")
        }
    }

    /// Runs `vips` on a picture whose header was read.
    ///
    /// - Returns: its warnings.
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

    /// Whether the words of `vips` mean that the library lacks the codec (the header is valid), or reads no such
    /// samples or compression (libtiff). libheif before 1.18 also refuses auxiliary pictures of several items.
    private static func isOfUnknownKind(_ errors: String) -> Bool {
        [
            "is not a known file format", "heif: Unsupported", "Too many auxiliary image references",
            "Non-existing depth image referenced", "decoding is not implemented", "support is not configured",
            "unsupported tiff image type", "not a whole number of bytes", "tiff2vips: samples out of range",
            "subsampled images not supported", "not SGI-compressed LOGLUV",
        ].contains { errors.contains($0) }
    }
}

/// A picture from a client or an upstream.
package enum PictureSource: Sendable {
    /// A file; its name is ignored.
    case file(URL)
    /// Bytes in memory.
    case bytes(Data)

    /// Reads the header, and checks bytes and pixels against their limits before any decoder sees them.
    ///
    /// - Throws: ``MediaError``: `unsupported`, `damaged`, `tooLarge`; Foundation's error if a file cannot be read.
    func header(_ limits: MediaLimits) throws -> PictureHeader {
        let headers: [PictureHeader] = try read(limits) { [try PictureHeader(of: $0)] }
        return headers[0]
    }

    /// Reads the headers of all pages, and checks them as ``header(_:)`` does.
    ///
    /// - Throws: the errors of ``header(_:)``, and `tooManyPages`.
    func pages(_ limits: MediaLimits) throws -> [PictureHeader] {
        try read(limits) { try PictureHeader.pages(of: $0, maximum: limits.pdfPages) }
    }

    private func read(_ limits: MediaLimits, _ headers: (any ByteSource) throws -> [PictureHeader]) throws
        -> [PictureHeader]
    {
        let source = try open()
        guard source.count <= limits.pictureBytes else { throw MediaError.tooLarge(.bytes(limit: limits.pictureBytes)) }
        do {
            let headers = try headers(source)
            guard headers.allSatisfy({ $0.pixels <= limits.picturePixels }) else {
                throw MediaError.tooLarge(.pixels(limit: limits.picturePixels))
            }
            return headers
        } catch let error as PictureHeaderError {
            throw MediaError(error, limits)
        }
    }

    /// Opens it.
    ///
    /// - Throws: Foundation's error if a file cannot be read.
    func open() throws -> any ByteSource {
        switch self {
        case .file(let url): try FileBytes(url)
        case .bytes(let data): Array(data)
        }
    }

    /// Links or writes it in a job's directory, under a name of Larder's own. A GIF whose first frame does not cover
    /// the picture is written with one transparent second frame in place of its others. libvips makes all pixels opaque
    /// unless a frame is transparent.
    ///
    /// - Returns: its absolute path.
    /// - Throws: Foundation's error.
    func place(in folder: JobDirectory, as name: String, _ header: PictureHeader) throws -> String {
        if let end = header.endOfPartialFrame {
            return try folder.write(Data(try open().bytes(0..<end) + Self.transparentFrame), as: name)
        }
        switch self {
        case .file(let url): return try folder.link(url, as: name)
        case .bytes(let data): return try folder.write(data, as: name)
        }
    }
}

extension PictureSource {
    /// A frame of a transparent pixel, and the end of the file (GIF89a sections 20, 22, 23 and 27).
    private static let transparentFrame: [UInt8] =
        [0x21, 0xF9, 4, 1, 0, 0, 0, 0] + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0] + [0x3B]
}

extension MediaError {
    /// Translates an error in the header of a picture.
    init(_ error: PictureHeaderError, _ limits: MediaLimits) {
        self =
            switch error {
            case .unsupported(let kind): .unsupported(kind)
            case .truncated: .damaged("the picture ends too early")
            case .malformed(let reason): .damaged(reason)
            case .tooManyPages: .tooManyPages(limit: limits.pdfPages)
            }
    }
}
