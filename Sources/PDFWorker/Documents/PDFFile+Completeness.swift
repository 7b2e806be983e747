import Foundation
import MediaFormats

extension PDFFile {
    /// Checks that a file has all bytes that libqpdf has written.
    ///
    /// The library writes by stdio and ignores what a flush reports, such as a full disk. The part that did not fit is
    /// missing then, at the end, or within the file if there was space again. Both change where the table of objects is
    /// or ends: the last line but one says where it begins, and each object takes 20 bytes of it (ISO 32000-1 7.5.4).
    ///
    /// - Throws: ``JobError``.
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
