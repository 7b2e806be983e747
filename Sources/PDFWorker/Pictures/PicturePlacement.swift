import CJPEGCheck
import Foundation
import MediaFormats

/// The size of a page and the position of its picture.
struct PicturePlacement: Equatable {
    /// A size in points, upright.
    typealias Size = (width: Double, height: Double)

    static let a4: Size = (595.276, 841.89)
    /// The smallest page that every reader accepts (ISO 32000-1 annex C.2), in points.
    static let smallestSide = 3.0

    let pageWidth: Double
    let pageHeight: Double
    /// Left and bottom edge, width and height of the shown picture.
    let x: Double
    let y: Double
    let width: Double
    let height: Double

    /// Places a picture.
    ///
    /// - Parameters:
    ///   - width: Width of the picture after orientation, in pixels.
    ///   - height: Height of the picture after orientation, in pixels.
    ///   - pixelAspect: Height of a pixel divided by its width. The picture gets its proportions and at least one point
    ///     per pixel.
    init(width pixelsAcross: Int, height pixelsDown: Int, pixelAspect: Double = 1, layout: PageLayout) {
        let (across, down) = (Double(pixelsAcross) / min(1, pixelAspect), Double(pixelsDown) * max(1, pixelAspect))
        let margins = 2 * layout.margin
        if let paper = Self.size(of: layout.paper) {
            (pageWidth, pageHeight) = across > down ? (paper.height, paper.width) : paper
            let scale = min((pageWidth - margins) / across, (pageHeight - margins) / down)
            (width, height) = (across * scale, down * scale)
        } else {
            let scale = min(1, Self.a4.height / max(across, down))
            (width, height) = (across * scale, down * scale)
            (pageWidth, pageHeight) = (
                max(width + margins, Self.smallestSide), max(height + margins, Self.smallestSide)
            )
        }
        (x, y) = ((pageWidth - width) / 2, (pageHeight - height) / 2)
    }

    /// Returns the size of a paper; nil if the size depends on the picture.
    private static func size(of paper: PageLayout.Paper) -> Size? {
        switch paper {
        case .fit: nil
        case .a4: a4
        case .a5: (419.528, 595.276)
        case .a3: (841.89, 1190.551)
        case .letter: (612, 792)
        case .legal: (612, 1008)
        }
    }

    /// Returns the content stream of the page: the picture `/Picture`, turned upright, at its position.
    func content(_ orientation: ExifOrientation) -> String {
        let m = orientation.matrix
        let numbers = [m.a * width, m.b * height, m.c * width, m.d * height, x + m.e * width, y + m.f * height]
        return "q \(numbers.map(Self.notation).joined(separator: " ")) cm /Picture Do Q"
    }

    /// The media box in PDF notation.
    var box: String { "[0 0 \(Self.notation(pageWidth)) \(Self.notation(pageHeight))]" }

    /// Returns a number in PDF notation, without an exponent, rounded to millionths.
    static func notation(_ value: Double) -> String {
        let millionths = Int((value * 1_000_000).rounded())
        let (whole, rest) = (abs(millionths) / 1_000_000, abs(millionths) % 1_000_000)
        let sign = millionths < 0 ? "-" : ""
        guard rest != 0 else { return "\(sign)\(whole)" }
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(sign)\(whole).\(digits)"
    }
}

/// Decodes a client's picture once before it is embedded unchanged, to check that it is complete.
enum PictureCheck {
    /// Decodes a picture and discards its pixels.
    ///
    /// - Parameter seconds: Largest processor time for a JPEG.
    /// - Throws: ``JobError`` `damaged` if a part of its data is missing or cannot be decoded; `timedOut`; `other` if
    ///   there is not enough memory.
    static func run(_ path: String, seconds: Int) throws {
        let data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        switch PictureFormat(signature: Array(data.prefix(PictureFormat.signatureLength))) {
        case .jpeg: try checkJPEG(data, seconds)
        case .png: try checkPNG(PNGPixels(FileBytes(URL(filePath: path)), data))
        default: throw JobError.damaged("a picture that cannot be embedded as it is")
        }
    }

    private static func checkPNG(_ pixels: PNGPixels<FileBytes>) throws {
        try pixels.checkChunks()
        try pixels.forEachLine { _ in }
    }

    /// Checks a JPEG.
    ///
    /// - Parameter isByLibraryOnly: Whether libjpeg decodes it in every case, for the test that compares both ways.
    static func checkJPEG(_ data: Data, _ seconds: Int, isByLibraryOnly: Bool = false) throws {
        let result = data.withUnsafeBytes { buffer in
            buffer.bindMemory(to: UInt8.self).baseAddress.map {
                larder_jpeg_check($0, buffer.count, Int32(seconds), isByLibraryOnly ? 1 : 0)
            } ?? Int32(LARDER_JPEG_DAMAGED)
        }
        switch Int(result) {
        case LARDER_JPEG_WHOLE: return
        case LARDER_JPEG_DAMAGED: throw JobError.damaged("data of the JPEG are missing or broken")
        case LARDER_JPEG_LATE: throw JobError(.timedOut)
        default: throw JobError.outOfMemory()
        }
    }
}
