import CQPDF
import CQPDFCheck
import Foundation
import MediaFormats

extension PDFFile {
    /// Writes the document. The same document gives the same bytes, including its identity.
    ///
    /// - Parameter progress: Receives the percentage from time to time.
    func write(to path: String, progress: @escaping (Int) -> Void) throws {
        if try writesNumberSignsUnescaped() { try escapeNumberSigns() }
        qpdf_init_write(handle, path)
        try check()
        qpdf_set_decode_level(handle, qpdf_dl_none)
        qpdf_set_compress_streams(handle, QPDF_BOOL(0))
        qpdf_set_preserve_encryption(handle, QPDF_BOOL(0))
        qpdf_set_deterministic_ID(handle, QPDF_BOOL(1))
        // As PDF/A requires.
        qpdf_set_newline_before_endstream(handle, QPDF_BOOL(1))
        // Samples of 16 bits need this version.
        qpdf_set_minimum_pdf_version(handle, "1.5")
        let report = Report(progress)
        try withExtendedLifetime(report) {
            qpdf_register_progress_reporter(
                handle,
                { percent, context in
                    guard let context else { return }
                    Unmanaged<Report>.fromOpaque(context).takeUnretainedValue().progress(Int(percent))
                },
                Unmanaged.passUnretained(report).toOpaque()
            )
            qpdf_write(handle)
            try check()
        }
        try Self.requireComplete(path)
    }

    private final class Report {
        let progress: (Int) -> Void

        init(_ progress: @escaping (Int) -> Void) {
            self.progress = progress
        }
    }

    /// Whether libqpdf has the defect of 11.3, which Debian 12 has: it writes `/A#23B` as `/A#B`, a different name.
    private func writesNumberSignsUnescaped() throws -> Bool {
        let name = qpdf_oh_new_name(handle, "/#")
        defer { release(name) }
        return qpdf_oh_unparse(handle, name).map { String(cString: $0) } == "/#"
    }

    /// Escapes the number signs in all names of the document, because the library writes names verbatim. Must be called
    /// once, at the end: the library takes the escape for a part of the name.
    private func escapeNumberSigns() throws {
        var seen: Set<Int32> = []
        var open = [qpdf_get_root(handle)]
        func replace(_ value: Object, by put: (Object) -> Void) {
            if let name = name(value)?.escaped {
                let escaped = qpdf_oh_new_name(handle, name.bytes)
                put(escaped)
                release(escaped)
            } else if isContainer(value) {
                return open.append(value)
            }
            release(value)
        }
        while let object = open.popLast() {
            defer { release(object) }
            let number = qpdf_oh_get_object_id(handle, object)
            if number != 0, !seen.insert(number).inserted { continue }
            if qpdf_oh_is_array(handle, object) != 0 {
                for index in 0..<qpdf_oh_get_array_n_items(handle, object) {
                    replace(qpdf_oh_get_array_item(handle, object, index)) {
                        qpdf_oh_set_array_item(handle, object, index, $0)
                    }
                }
            } else if qpdf_oh_is_stream(handle, object) != 0 {
                open.append(qpdf_oh_get_dict(handle, object))
            } else {
                for key in keys(of: object) {
                    replace(qpdf_oh_get_key(handle, object, key.bytes)) {
                        qpdf_oh_replace_key(handle, object, key.bytes, $0)
                    }
                    guard let name = key.escaped else { continue }
                    with(key, of: object) { qpdf_oh_replace_key(handle, object, name.bytes, $0) }
                    qpdf_oh_remove_key(handle, object, key.bytes)
                }
            }
            try check()
        }
    }

    /// Checks that a file has all bytes that libqpdf has written.
    ///
    /// The library writes by stdio and ignores errors of a flush, such as a full disk. The part that did not fit is
    /// then missing at the end, or within the file if space became free again. In both cases the position or the end of
    /// the table of objects changes. The last line but one of a file is the offset of the table, and each object has 20
    /// bytes in it (ISO 32000-1 7.5.4).
    static func requireComplete(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { throw JobError.unwritten() }
        defer { try? file.close() }
        let length = try file.seekToEnd()
        let end = try lines(of: file, at: length - min(length, 64)).suffix(4)
        guard end.first == "startxref", end.suffix(2) == ["%%EOF", ""], let start = UInt64(end[end.startIndex + 1])
        else { throw JobError.unwritten() }
        let head = try lines(of: file, at: start)
        guard head.count > 2, head[0] == "xref", head[1].hasPrefix("0 "), let count = UInt64(head[1].dropFirst(2)),
            count < length
        else { throw JobError.unwritten() }
        let table = UInt64(head[0].utf8.count + head[1].utf8.count + 2) + 20 * count
        guard try lines(of: file, at: start + table).first?.hasPrefix("trailer <<") == true else {
            throw JobError.unwritten()
        }
    }

    private static func lines(of file: FileHandle, at position: UInt64) throws -> [String] {
        try file.seek(toOffset: position)
        return String(decoding: try file.read(upToCount: 64) ?? Data(), as: UTF8.self).components(separatedBy: "\n")
    }
}

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
