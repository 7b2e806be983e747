import Foundation

/// Files in one, as tar(1) reads and writes them (ustar, POSIX.1-2017). The same files make the same bytes.
enum TarFile {
    private static let block = 512
    private static let end = Data(repeating: 0, count: 1_024)

    /// Why bytes are no archive.
    struct Malformed: Error {}

    /// Returns the archive of files by their paths, which have at most 100 bytes.
    static func encode(_ files: [String: Data]) -> Data {
        files.sorted { $0.key < $1.key }.reduce(into: Data()) { archive, file in
            archive += header(file.key, file.value.count)
            archive += file.value
            archive += Data(repeating: 0, count: (block - file.value.count % block) % block)
        } + end
    }

    /// Returns the files of an archive.
    /// - Throws: ``Malformed``.
    static func decode(_ archive: Data) throws -> [String: Data] {
        var files: [String: Data] = [:]
        var rest = archive[...]
        while let header = rest.prefix(block).nonzero {
            guard header.count == block, let size = number(header, 124..<135), (0...rest.count - block).contains(size),
                checksum(header) == number(header, 148..<154)
            else { throw Malformed() }
            // tar(1) names what it finds in a folder after it.
            let path = text(header, 0..<100)
            let name = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
            rest = rest.dropFirst(block)
            // Folders have no bytes of their own.
            if !name.hasSuffix("/") { files[name] = Data(rest.prefix(size)) }
            rest = rest.dropFirst(size + (block - size % block) % block)
        }
        return files
    }

    private static func header(_ name: String, _ size: Int) -> Data {
        var header = Data(repeating: 0, count: block)
        let fields: [(Int, String)] = [
            (0, String(name.prefix(100))), (100, "0000600\0"), (108, "0000000\0"), (116, "0000000\0"),
            (124, octal(size, 11) + "\0"), (136, "00000000000\0"), (148, "        "), (156, "0"), (257, "ustar\0"),
            (263, "00"),
        ]
        for (offset, text) in fields { header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
        header.replaceSubrange(148..<156, with: (octal(checksum(header), 6) + "\0 ").utf8)
        return header
    }

    /// The sum of a header's bytes, with spaces in place of the sum.
    private static func checksum(_ header: Data) -> Int {
        header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    private static func octal(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func text(_ header: Data, _ range: Range<Int>) -> String {
        let start = header.startIndex
        let bytes = header[start + range.lowerBound..<start + range.upperBound].prefix { $0 != 0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func number(_ header: Data, _ range: Range<Int>) -> Int? {
        Int(text(header, range).trimmingCharacters(in: .whitespaces), radix: 8)
    }
}

extension Data.SubSequence {
    /// The bytes; nil if there are none but zeros.
    fileprivate var nonzero: Data? { contains { $0 != 0 } ? self : nil }
}
