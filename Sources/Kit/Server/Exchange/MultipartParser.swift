import Foundation
import HTTP

/// Reads multipart/form-data as its bytes arrive, in chunks of any size (RFC 2046 §5.1, RFC 7578). A value without
/// input and output; memory stays bounded by the chunk, the boundary and the header of one part.
package struct MultipartParser: Sendable {
    /// A piece of the message.
    package enum Event: Sendable, Equatable {
        /// A part begins.
        case part(MultipartPartHead)
        /// The next bytes of it; never empty.
        case data(ArraySlice<UInt8>)
        /// It is whole.
        case partEnd
    }

    private enum State {
        /// Before the first boundary; such bytes are ignored.
        case preamble
        /// After a boundary, on its line.
        case delimiter
        case header
        case content
        /// After the last boundary.
        case epilogue
    }

    /// Most bytes of a part's header.
    static let headerLimit = 16 << 10
    /// Most spaces between a boundary and its line end.
    private static let paddingLimit = 256

    /// The end of a part: line end, two hyphens, boundary.
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// Bytes that could not be decided on yet. They begin with a line end that is not received, since the first
    /// boundary needs none before it.
    private var pending: [UInt8] = [0x0D, 0x0A]
    /// How far the end of a header has been looked for, so that a header in small chunks is not read again and again.
    private var searched = 0

    /// A parser for a body with this boundary.
    package init(_ boundary: MultipartBoundary) {
        delimiter = [0x0D, 0x0A, 0x2D, 0x2D] + boundary.bytes
    }

    /// Takes the next bytes. After an error the body is lost.
    ///
    /// - Throws: `malformedDelimiter`, `headerTooLarge`, `malformedHeader`.
    package mutating func consume(_ chunk: some Collection<UInt8>) throws(MultipartError) -> [Event] {
        if case .epilogue = state { return [] }
        pending.append(contentsOf: chunk)
        var events: [Event] = []
        var position = 0
        while let next = try step(from: position, &events) { position = next }
        return events
    }

    /// Signals the end of the bytes.
    ///
    /// - Throws: `truncated` if the last boundary is missing.
    package func finish() throws(MultipartError) {
        guard case .epilogue = state else { throw .truncated }
    }

    /// Continues at a position in the pending bytes; nil if more bytes are needed.
    private mutating func step(from position: Int, _ events: inout [Event]) throws(MultipartError) -> Int? {
        switch state {
        case .preamble, .content: return content(from: position, &events)
        case .delimiter: return try endOfDelimiter(from: position)
        case .header: return try header(from: position, &events)
        case .epilogue:
            pending = []
            return nil
        }
    }

    private mutating func content(from position: Int, _ events: inout [Event]) -> Int? {
        let isContent = if case .content = state { true } else { false }
        let (found, end) = firstDelimiter(from: position)
        if isContent, end > position { events.append(.data(pending[position..<end])) }
        guard found else {
            keep(from: end)
            return nil
        }
        if isContent { events.append(.partEnd) }
        state = .delimiter
        return end + delimiter.count
    }

    /// Where the next delimiter begins, or else the first byte that may be the beginning of one.
    private func firstDelimiter(from position: Int) -> (found: Bool, index: Int) {
        pending.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return (false, position) }
            var index = position
            while index < bytes.count, let found = memchr(base + index, 0x0D, bytes.count - index) {
                let start = base.distance(to: UnsafeRawPointer(found))
                let length = min(delimiter.count, bytes.count - start)
                let isSame = delimiter.withUnsafeBytes {
                    $0.baseAddress.map { memcmp(base + start, $0, length) == 0 } ?? false
                }
                if isSame { return (length == delimiter.count, start) }
                index = start + 1
            }
            return (false, bytes.count)
        }
    }

    /// The rest of the line after a boundary: `--` for the last one; else spaces and the line end.
    private mutating func endOfDelimiter(from position: Int) throws(MultipartError) -> Int? {
        var index = position
        if pending.count - index >= 2, pending[index] == 0x2D, pending[index + 1] == 0x2D {
            state = .epilogue
            return index + 2
        }
        while index < pending.count, pending[index] == 0x20 || pending[index] == 0x09 { index += 1 }
        guard index - position <= Self.paddingLimit else { throw .malformedDelimiter }
        let rest = pending[index...].prefix(2)
        let expected: [[UInt8]] = index == position ? [[0x0D, 0x0A], [0x2D, 0x2D]] : [[0x0D, 0x0A]]
        guard expected.contains(where: { $0.starts(with: rest) }) else { throw .malformedDelimiter }
        guard rest.count == 2 else {
            keep(from: position)
            return nil
        }
        state = .header
        // The line end stays: with it, a header without any line is empty line and nothing else.
        return index
    }

    private mutating func header(from position: Int, _ events: inout [Event]) throws(MultipartError) -> Int? {
        var end: Int?
        var index = max(position, searched)
        while end == nil, index + 3 < pending.count {
            let isEnd =
                pending[index] == 0x0D && pending[index + 1] == 0x0A && pending[index + 2] == 0x0D
                && pending[index + 3] == 0x0A
            if isEnd { end = index } else { index += 1 }
        }
        guard (end ?? pending.count) - position <= Self.headerLimit else {
            throw .headerTooLarge(limit: Self.headerLimit)
        }
        guard let end else {
            keep(from: position)
            searched = index - position
            return nil
        }
        searched = 0
        let text = String(decoding: pending[position..<end], as: UTF8.self)
        let lines = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" }
            .map { String($0.last == "\r" ? $0.dropLast() : $0) }.filter { !$0.isEmpty }
        guard !text.unicodeScalars.contains("\0") else { throw .malformedHeader("it holds a NUL") }
        events.append(.part(try MultipartPartHead(lines: lines)))
        state = .content
        return end + 4
    }

    private mutating func keep(from index: Int) {
        pending.removeFirst(index)
    }
}

/// The header of a part (RFC 7578 §4.2, §4.4).
package struct MultipartPartHead: Sendable, Equatable {
    /// Name of the form's field.
    package var name: String
    /// Name of the file as the client gives it, without folders; nil if it gives none. To be shown, never to be
    /// opened.
    package var fileName: String?
    package var contentType: String?
}

extension MultipartPartHead {
    /// Reads header lines, without the empty one that ends them.
    init(lines: [String]) throws(MultipartError) {
        var fields: [String: String] = [:]
        for line in Self.unfolded(lines) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(" ") else {
                throw .malformedHeader("a line has no name")
            }
            let name = parts[0].lowercased()
            guard fields[name] == nil else { throw .malformedHeader("\(name) is there twice") }
            fields[name] = String(FieldList.trim(parts[1]))
        }
        guard let disposition = fields["content-disposition"].flatMap({ ParameterizedValue($0) }),
            disposition.value == "form-data",
            let name = disposition.parameters["name"]
        else { throw .malformedHeader("Content-Disposition must be form-data with a name") }
        // Deprecated by RFC 7578 §4.7. The part would be stored in its encoded form, so it is refused.
        if let encoding = fields["content-transfer-encoding"]?.lowercased(),
            !["7bit", "8bit", "binary"].contains(encoding)
        {
            throw .malformedHeader("Content-Transfer-Encoding must be left out, or 7bit, 8bit or binary")
        }
        self.name = Self.unescaped(name)
        fileName = (disposition.extended("filename") ?? disposition.parameters["filename"].map(Self.unescaped)).map(
            Self.withoutFolders
        )
        contentType = fields["content-type"]
    }

    /// A line that begins with a space continues the previous one (RFC 5322 §2.2.3).
    private static func unfolded(_ lines: [String]) -> [String] {
        lines.reduce(into: []) { result, line in
            if line.hasPrefix(" ") || line.hasPrefix("\t"), !result.isEmpty {
                result[result.count - 1] += line
            } else {
                result.append(line)
            }
        }
    }

    /// Browsers write quotes and line ends percent-encoded, and nothing else (HTML Living Standard §4.10.21.8).
    private static func unescaped(_ text: String) -> String {
        text.replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing("%0A", with: "\n")
    }

    /// RFC 7578 §4.2: path information in a name is not to be used.
    private static func withoutFolders(_ name: String) -> String {
        name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last.map { String($0) }
            ?? ""
    }
}

/// The boundary that a `Content-Type: multipart/form-data` names (RFC 2046 §5.1.1).
package struct MultipartBoundary: Sendable, Equatable {
    let bytes: [UInt8]

    /// Reads the value of a `Content-Type` field.
    ///
    /// - Throws: `otherType`, `badBoundary`.
    package init(contentType: String?) throws(MultipartError) {
        guard let value = ParameterizedValue(contentType ?? ""), value.value == "multipart/form-data" else {
            throw .otherType(String(FieldList.trim((contentType ?? "").prefix { $0 != ";" })))
        }
        let bytes = Array((value.parameters["boundary"] ?? "").utf8)
        guard (1...70).contains(bytes.count), bytes.allSatisfy(Self.isAllowed), bytes.last != UInt8(ascii: " ") else {
            throw .badBoundary
        }
        self.bytes = bytes
    }

    /// Returns whether the byte is one of `bchars`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        ASCIISet.alphanumerics.contains(byte) || "'()+_,-./:=? ".utf8.contains(byte)
    }
}

/// Why a body is no multipart/form-data (RFC 7578, RFC 2046 §5.1).
package enum MultipartError: Error, Sendable, Equatable {
    /// The `Content-Type` is of another kind, or missing; with its value.
    case otherType(String)
    /// The `boundary` is missing, or not 1 to 70 characters of RFC 2046 §5.1.1.
    case badBoundary
    /// Something else than a line end or `--` follows a boundary.
    case malformedDelimiter
    /// The header of a part has more bytes than are read.
    case headerTooLarge(limit: Int)
    /// The header of a part cannot be read; with the reason.
    case malformedHeader(String)
    /// The body ended before its last boundary.
    case truncated
}
