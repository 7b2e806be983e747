import Foundation

/// Comments and indentation of scripts and style sheets, which browsers need not download.
enum WebComments {
    /// Returns the text of a file with an empty line in place of each that has a comment only, so that no line changes
    /// its number, and without the spaces at the beginnings of lines.
    ///
    /// A comment ends the line that it is on. Lines within a string look like others, so no string may have several.
    static func removed(from bytes: Data) -> Data {
        var kept = Data(capacity: bytes.count)
        bytes.withUnsafeBytes { file in
            var (position, isInside) = (0, false)
            while position < file.count {
                let line = Self.line(of: file, from: position)
                position += line.count
                let begins = Self.begins(line, with: "*")
                guard isInside || begins || Self.begins(line, with: "/") else {
                    kept.append(contentsOf: line.drop { $0 == UInt8(ascii: " ") })
                    continue
                }
                if isInside || begins { isInside = !Self.endsComment(line) }
                if line.last == Self.newline { kept.append(Self.newline) }
            }
        }
        return kept
    }

    private static let newline = UInt8(ascii: "\n")

    /// Returns a line with its end.
    private static func line(of file: UnsafeRawBufferPointer, from start: Int) -> UnsafeRawBufferPointer {
        let rest = UnsafeRawBufferPointer(rebasing: file[start...])
        guard let first = rest.baseAddress, let end = memchr(first, Int32(newline), rest.count) else { return rest }
        return UnsafeRawBufferPointer(rebasing: rest[...(UnsafeRawPointer(end) - first)])
    }

    /// Whether a line begins with a slash and a second sign, after spaces.
    private static func begins(_ line: UnsafeRawBufferPointer, with sign: Unicode.Scalar) -> Bool {
        var position = 0
        while position < line.count, line[position] == UInt8(ascii: " ") { position += 1 }
        guard position + 1 < line.count else { return false }
        return line[position] == UInt8(ascii: "/") && line[position + 1] == UInt8(ascii: sign)
    }

    private static func endsComment(_ line: UnsafeRawBufferPointer) -> Bool {
        line.suffix(3).elementsEqual("*/\n".utf8) || line.suffix(2).elementsEqual("*/".utf8)
    }
}
