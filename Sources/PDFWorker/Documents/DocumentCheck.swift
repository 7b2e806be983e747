import CQPDFCheck
import Foundation
import MediaFormats

/// Checks that a document can be read as a whole, before it is accepted.
enum DocumentCheck {
    /// Reads all objects, the operators of all pages and the data of all streams, as `qpdf --check` does.
    ///
    /// - Throws: ``JobError`` `damaged` for the first thing that is wrong; `other` if there is not enough memory.
    static func run(_ path: String) throws {
        try require { larder_qpdf_check(path, $0, $1) }
    }

    /// Checks that everything exists that the pages of a document name as their resources. To be done before it is
    /// copied: the copy has no trace of what is missing.
    ///
    /// - Throws: ``JobError`` `damaged` if something is missing; `other` if there is not enough memory.
    static func requireResources(_ path: String) throws {
        try require { larder_qpdf_check_resources(path, $0, $1) }
    }

    private static func require(_ check: (UnsafeMutablePointer<CChar>, Int) -> Int32) throws {
        var reason = [CChar](repeating: 0, count: 512)
        let result = reason.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { check($0, buffer.count) } ?? Int32(LARDER_QPDF_OUT_OF_MEMORY)
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
