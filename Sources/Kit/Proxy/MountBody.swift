import Concurrency
import Database
import Foundation
import HTTPCaching
import HTTPTypes
import NIOCore
import ResponseStore
import Upstream

/// The open body of a stored response of a mount.
enum MountBody: Sendable {
    /// All of it.
    case whole(ResponseStore.OpenBody)
    /// The pieces that make up what a request asks for, and the length of the whole.
    case parts([PartReader], length: Int)

    /// The length of the whole in bytes.
    var length: Int {
        switch self {
        case .whole(.bytes(let bytes)): bytes.count
        case .whole(.blob(let reader)): reader.blob.length
        case .parts(_, let length): length
        }
    }

    /// Returns the body of a response with these bytes; of parts, those that were opened.
    func part(_ range: Range<Int>) -> ProxyResponse.Body {
        switch self {
        case .whole(.bytes(let bytes)):
            let start = bytes.startIndex + range.lowerBound
            return .bytes(ByteBuffer(bytes: bytes[start..<(start + range.count)]))
        case .whole(.blob(let reader)): return .stream(ByteStream(reader, range: range), length: range.count)
        case .parts(let readers, _): return .stream(ByteStream(readers), length: range.count)
        }
    }
}

extension CachedResponseHead {
    /// Returns which bytes of the body the response to a request has; none for a HEAD or a 304.
    func bytes(for request: ProxiedRequest, of length: Int) -> Range<Int> {
        switch ServedResponse(to: request.cacheKeyRequest, from: self, age: 0, bodyLength: length).body {
        case .none: 0..<0
        case .whole: 0..<length
        case .part(let range): range.lowerBound..<(range.upperBound + 1)
        }
    }
}

extension ByteStream {
    /// Most bytes that are read of a part at a time.
    private static let pieceBytes = 256 << 10

    /// Streams stored pieces of a body one after the other.
    init(_ pieces: [PartReader]) {
        self.init {
            var rest = pieces[...]
            var position = rest.first?.range.lowerBound ?? 0
            return {
                guard let piece = rest.first else { return nil }
                let end = Swift.min(position + Self.pieceBytes, piece.range.upperBound)
                let bytes = try piece.read(position..<end)
                position = end
                if end == piece.range.upperBound {
                    rest.removeFirst()
                    position = rest.first?.range.lowerBound ?? end
                }
                return ByteBuffer(bytes: bytes)
            }
        }
    }

    /// Streams bodies one after the other.
    init(joining streams: [ByteStream]) {
        self.init {
            var rest = streams[...]
            var current: Iterator?
            return {
                while true {
                    if let part = try await current?.next() { return part }
                    guard let next = rest.popFirst() else { return nil }
                    current = next.makeAsyncIterator()
                }
            }
        }
    }
}
