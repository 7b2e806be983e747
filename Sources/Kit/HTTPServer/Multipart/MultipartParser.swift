import Foundation

/// Reads multipart/form-data as its bytes arrive, in chunks of any size (RFC 2046 §5.1, RFC 7578). A value without
/// input and output; memory stays bounded by the chunk, the boundary and the header of one part.
public struct MultipartParser: Sendable {
    /// What the bytes say.
    public enum Event: Sendable, Equatable {
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
    public static let headerLimit = 16 << 10
    /// Most spaces between a boundary and its line end.
    private static let paddingLimit = 256

    /// Line end, two hyphens, boundary: what ends a part.
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// Bytes that could not be decided on yet. It begins with a line end that is not there: the first boundary needs
    /// none before it.
    private var pending: [UInt8] = [0x0D, 0x0A]
    /// How far the end of a header has been looked for, so that a header in small chunks is not read again and again.
    private var searched = 0

    /// A parser for a body with this boundary.
    public init(_ boundary: MultipartBoundary) {
        delimiter = [0x0D, 0x0A, 0x2D, 0x2D] + boundary.bytes
    }

    /// Takes the next bytes. After an error the body is lost.
    ///
    /// - Throws: `malformedDelimiter`, `headerTooLarge`, `malformedHeader`.
    public mutating func consume(_ chunk: some Collection<UInt8>) throws(MultipartError) -> [Event] {
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
    public func finish() throws(MultipartError) {
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

    /// What follows a boundary on its line: `--` for the last one; else spaces and the line end.
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
