import Hummingbird
import NIOCore

/// Bytes that can be read in parts, at any offset and repeatedly: the body of a file that is too long to be kept in
/// memory.
protocol ByteSource: Sendable {
    var count: Int { get }
    /// Equal for sources of equal bytes.
    var identity: String { get }

    /// - Parameter range: within `0..<count`.
    func bytes(in range: Range<Int>) throws -> [UInt8]
}

/// A part of a source as the body of a response, read while it is sent.
struct StreamedBody: Sendable, Equatable {
    /// Number of bytes that are read at a time.
    static let chunk = 1 << 16

    let source: any ByteSource
    let range: Range<Int>

    static func == (left: StreamedBody, right: StreamedBody) -> Bool {
        left.source.identity == right.source.identity && left.range == right.range
    }
}

extension UpstreamResponse {
    /// Sends a part of the body with back-pressure.
    func write(_ part: Range<Int>, to writer: inout any ResponseBodyWriter) async throws {
        guard let stream else { return try await writer.write(ByteBuffer(bytes: body[part])) }
        let end = stream.range.lowerBound + part.upperBound
        var next = stream.range.lowerBound + part.lowerBound
        while next < end {
            let upper = min(next + StreamedBody.chunk, end)
            try await writer.write(ByteBuffer(bytes: try stream.source.bytes(in: next..<upper)))
            next = upper
        }
    }
}

/// Bytes in memory.
struct BytesInMemory: ByteSource {
    let content: [UInt8]
    let identity: String

    var count: Int { content.count }

    func bytes(in range: Range<Int>) -> [UInt8] { Array(content[range]) }
}
