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
        switch Int(larder_qpdf_check(path, &reason, reason.count)) {
        case LARDER_QPDF_WHOLE: return
        case LARDER_QPDF_DAMAGED:
            let text = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw JobError.damaged("a part of the PDF cannot be read: \(PDFFile.plain(text))")
        default:
            // The server recognises a lack of memory by these words.
            FileHandle.standardError.write(Data("out of memory\n".utf8))
            throw JobError(.other("out of memory"))
        }
    }
}
