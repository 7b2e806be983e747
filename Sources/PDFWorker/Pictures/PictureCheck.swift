import CJPEGCheck
import Foundation
import MediaFormats

/// Checks that a client's picture is whole before it is embedded as it is: all of its data are decoded once.
enum PictureCheck {
    /// Decodes a picture and discards its pixels.
    ///
    /// - Parameter seconds: The processor time that a JPEG may take.
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
    /// - Parameter isByLibraryOnly: Whether libjpeg decodes it in every case, for the test that both ways agree.
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
