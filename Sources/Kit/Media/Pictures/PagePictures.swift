import Concurrency
package import Foundation

/// Draws pages of PDFs in a child process.
package struct PagePictures: Sendable {
    let bench: ToolRunner

    /// Draws the crop box of a page with its rotation.
    ///
    /// - Parameters:
    ///   - page: the number of the page, from 1.
    ///   - file: the PDF. It should have passed ``PDFTool/inspect(_:)`` once.
    ///   - size: the size of the rotated page in points, if it is known: the picture of a very long page is narrower,
    ///     because its height is limited.
    ///   - width: of the picture in pixels; at least 1, at most ``MediaLimits/pageWidth``.
    ///   - isLossless: PNG instead of JPEG.
    /// - Throws: ``MediaError``: `tooLarge`, `damaged`, `noSuchPage`, `timedOut`, `toolMissing`, `overloaded`,
    ///   `crashed`, `failed`.
    package func picture(of page: Int, in file: URL, size: PDFPage? = nil, width: Int, isLossless: Bool = false)
        async throws -> RenderedPicture
    {
        let width = min(max(1, width), bench.limits.pageWidth)
        return try await bench.withFolder { folder in
            let input = try folder.link(file, as: "in.pdf")
            // The scale alone decides the size; the resolution (-r) has no effect then. The tool adds the extension to
            // the name of the result.
            var arguments = ["-singlefile", "-f", "\(page)", "-l", "\(page)", "-cropbox"]
            let (across, down) = Self.pixels(of: size, width: width)
            // Without the first option the tool takes the size for that of the page before its rotation.
            arguments += ["-scale-dimension-before-rotation", "-scale-to-x", "\(across)", "-scale-to-y", "\(down)"]
            arguments += isLossless ? ["-png"] : ["-jpeg", "-jpegopt", "quality=85,optimize=y"]
            let outcome = try await bench.run(.pdftoppm, arguments + [input, folder.path("out")], in: folder)
            let output = folder.path(isLossless ? "out.png" : "out.jpg")
            switch outcome.ending {
            case .exited(0) where FileManager.default.fileExists(atPath: output):
                return try RenderedPicture(file: output)
            case .exited(99): throw MediaError.noSuchPage(page)
            default: throw MediaError.damaged("page \(page) cannot be drawn")
            }
        }
    }

    /// The most lines of a picture. JPEG has at most 65,535; of a longer picture pdftoppm draws a single pixel or
    /// nothing.
    static let longest = 32_000

    /// Returns width and height of the picture; -1 leaves the height to the tool.
    static func pixels(of size: PDFPage?, width: Int) -> (Int, Int) {
        guard let size, size.width >= 0.001, size.height >= 0.001, size.width.isFinite, size.height.isFinite else {
            return (width, -1)
        }
        let scale = min(Double(width) / size.width, Double(longest) / size.height)
        return (max(1, min(width, Int((size.width * scale).rounded()))), max(1, Int((size.height * scale).rounded())))
    }
}

/// A picture that Larder has made.
package struct RenderedPicture: Sendable, Equatable {
    package let data: Data
    /// JPEG or PNG.
    package let format: PictureFormat
    package let width: Int
    package let height: Int

    package var mediaType: String { format.mediaType }

    package init(data: Data, format: PictureFormat, width: Int, height: Int) {
        self.data = data
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads a picture that a tool has written.
    ///
    /// - Throws: `PictureHeaderError`; ``MediaError/unavailable(_:)`` if its end is missing; Foundation's error if
    ///   the file cannot be read.
    init(file: String) throws {
        data = try Data(contentsOf: URL(filePath: file))
        let bytes = Array(data)
        let header = try PictureHeader(of: bytes)
        (format, width, height) = (header.format, header.width, header.height)
        // `pdftoppm` reports success although its last writes found no room.
        guard PictureFormat.isComplete(bytes) else {
            throw MediaError.unavailable("the end of a picture is missing after \(bytes.count) bytes: \(file)")
        }
    }
}

/// Subjects that could not be drawn lately, so that not every request for one takes as long as a job may.
package final class DrawingFailures: Sendable {
    /// How long a failure is repeated, in seconds: it may have been the load of the machine.
    static let lifetime: TimeInterval = 600

    private let failures = RecentFailures<String, MediaError>(lifetime: lifetime)

    package init() {}

    /// Draws something, unless that has failed lately: then its failure is repeated.
    ///
    /// - Parameter subject: Identifies the subject by its content; a width or a rotation makes no difference.
    /// - Throws: Errors of `draw`, or a recorded one.
    package func drawing<Value>(
        _ subject: String,
        at now: @Sendable () -> Date,
        _ draw: () async throws -> Value
    ) async throws -> Value {
        if let failure = failures.failure(of: subject, at: now()) { throw failure }
        do {
            return try await draw()
        } catch let error as MediaError {
            if error.isInContent { failures.record(error, of: subject, at: now()) }
            throw error
        }
    }
}

extension MediaError {
    /// Whether the next attempt would fail as well.
    fileprivate var isInContent: Bool {
        switch self {
        case .timedOut, .tooLarge, .damaged, .crashed: true
        default: false
        }
    }
}
