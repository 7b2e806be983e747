public import Foundation

/// Pictures of the pages of a PDF, drawn in a child.
public struct PagePictures: Sendable {
    let bench: Workbench

    /// A picture of one page, as it is shown: turned, its crop box.
    ///
    /// - Parameters:
    ///   - page: number of the page, from 1.
    ///   - file: the PDF. It should have passed ``PDFTool/inspect(_:)`` once.
    ///   - size: size of the page in points as it is shown, where it is known; it keeps very long pages from becoming very large pictures.
    ///   - width: of the picture in pixels; at least 1, at most ``MediaLimits/pageWidth``.
    ///   - isLossless: PNG instead of JPEG.
    /// - Throws: ``MediaError``: `tooLarge`, `damaged`, `noSuchPage`, `timedOut`, `toolMissing`, `overloaded`, `crashed`, `failed`.
    public func picture(of page: Int, in file: URL, size: PDFPage? = nil, width: Int, isLossless: Bool = false) async throws -> RenderedPicture {
        let width = min(max(1, width), bench.limits.pageWidth)
        return try await bench.withFolder { folder in
            let input = try folder.link(file, as: "in.pdf")
            // Without -r pdftoppm would first think of 150 dpi; the scale decides alone. The name of the result gets its ending from the tool.
            var arguments = ["-singlefile", "-f", "\(page)", "-l", "\(page)", "-cropbox"]
            arguments += ["-scale-to-x", "\(width)", "-scale-to-y", "\(height(for: width, of: size))"]
            arguments += isLossless ? ["-png"] : ["-jpeg", "-jpegopt", "quality=85,optimize=y"]
            let outcome = try await bench.run(.pdftoppm, arguments + [input, folder.path("out")], in: folder)
            let output = folder.path(isLossless ? "out.png" : "out.jpg")
            switch outcome.ending {
            case .exited(0) where FileManager.default.fileExists(atPath: output): return try RenderedPicture(file: output)
            case .exited(99): throw MediaError.noSuchPage(page)
            default: throw MediaError.damaged("page \(page) cannot be drawn")
            }
        }
    }

    /// -1 leaves it to the tool. A page of more than four times its width is squeezed into that: nobody reads it at this width anyway.
    private func height(for width: Int, of size: PDFPage?) -> Int {
        guard let size, size.width > 0, size.height > 0, size.width.isFinite, size.height.isFinite else { return -1 }
        let height = Double(width) * size.height / size.width
        return max(1, Int(min(height, Double(4 * width)).rounded()))
    }
}
