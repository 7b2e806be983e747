import CQPDFCheck
import Foundation
import MediaFormats

/// Checks that a document can be read as a whole, before it is accepted.
enum DocumentCheck {
    /// Reads all objects, the operators of all pages and the data of all streams, as `qpdf --check` does.
    ///
    /// - Throws: ``JobError`` `damaged` for the first thing that is wrong; `other` if there is not enough memory.
    static func run(_ path: String) throws {
        var reason = [CChar](repeating: 0, count: 512)
        let result = reason.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { larder_qpdf_check(path, $0, buffer.count) } ?? Int32(LARDER_QPDF_OUT_OF_MEMORY)
        }
        switch Int(result) {
        case LARDER_QPDF_WHOLE: return
        case LARDER_QPDF_DAMAGED:
            let text = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw JobError.damaged("a part of the PDF cannot be read: \(PDFFile.plain(text))")
        default: throw JobError.outOfMemory()
        }
    }
}
