import Foundation
import HTTP
import NIOCore
import NIOHPACK
import NIOHTTP1

/// The header block of a request (RFC 9113 §8.3.1) in the terms of HTTP/1.1, so that the same rules judge both. It
/// keeps everything that those refuse, such as two hosts.
struct HTTP2RequestHead {
    private(set) var method = ""
    /// The request target; empty, which no rule accepts, if it is none of HTTP/2.
    private(set) var target = ""
    private var fields: [(String, String)] = []

    /// Takes a header block that NIO has validated: no connection-specific fields but `te`, no CR, LF or NUL in values.
    init(_ block: HPACKHeaders) {
        var (authority, cookie) = (String?.none, Int?.none)
        fields.reserveCapacity(block.count)
        for (name, value, _) in block {
            switch name {
            case ":method":
                method = value
            case ":path":
                target = value.utf8.first == UInt8(ascii: "/") || value == "*" ? value : ""
            case ":authority":
                authority = value
                fields.append(("host", value))
            // For this connection only; every Firefox sends it.
            case ":scheme", "te":
                break
            case "host" where authority == value:
                break
            case "cookie":
                // Divided for compression (RFC 9113 §8.2.3).
                if let cookie {
                    fields[cookie].1 += "; \(value)"
                } else {
                    cookie = fields.count
                    fields.append((name, value))
                }
            default:
                fields.append((name, value))
            }
        }
        if !method.utf8.allSatisfy(ASCIISet.token.contains) { target = "" }
    }

    /// Returns the head as the decoder of HTTP/1.1 would.
    ///
    /// - Parameter hasBody: Whether a body follows on the stream.
    func request(hasBody: Bool) -> HTTPRequestHead {
        var headers = HTTPHeaders(fields)
        if hasBody, !headers.contains(name: "content-length") {
            headers.add(name: "transfer-encoding", value: "chunked")
        }
        return HTTPRequestHead(
            version: .http1_1,
            method: HTTPMethod(rawValue: method),
            uri: target,
            headers: headers
        )
    }

    /// The bytes that the response cache knows the head by: those of HTTP/1.1. Nil if it is neither GET nor HEAD.
    var cacheKey: ByteBuffer? {
        guard method == "GET" || method == "HEAD", !target.isEmpty else { return nil }
        var bytes = ByteBufferAllocator().buffer(capacity: 512)
        bytes.writeString(method)
        bytes.writeString(" ")
        bytes.writeString(target)
        bytes.writeString(" HTTP/1.1\r\n")
        for (name, value) in fields {
            bytes.writeString(name)
            bytes.writeString(": ")
            bytes.writeString(value)
            bytes.writeString("\r\n")
        }
        bytes.writeString("\r\n")
        return bytes
    }
}

/// The last requests of a connection whose responses were cached, by the bytes of their header blocks. As
/// ``RepeatedHead``, it knows where the response is, not the response.
///
/// A block is known until the table by which NIO decodes it changes: call ``forget()`` then.
final class HTTP2RepeatedRequests {
    private struct Request {
        let block: ByteBuffer
        var location: ResponseCache.Location
        var used: NIODeadline
    }

    /// Requests that are known at once.
    static let most = 8
    /// Longest block that is known, in bytes.
    static let longest = 1024
    /// How soon a request has to be repeated: a client that asks less often is served by NIO, whose header blocks are
    /// smaller, since they refer to earlier ones.
    static let time = TimeAmount.seconds(1)

    private var known: [Request] = []
    /// The request that NIO is decoding.
    private var candidate: (stream: Int, block: ByteBuffer)?

    /// The table of the decoder has changed.
    func forget() { known.removeAll(keepingCapacity: true) }

    /// NIO gets a request next, or has got it.
    func offer(_ candidate: (stream: Int, block: ByteBuffer)?) {
        self.candidate = candidate.flatMap { $0.block.readableBytes <= Self.longest ? $0 : nil }
    }

    /// The response to the request that NIO is decoding was found at a place.
    ///
    /// - Parameter head: The request in the terms of HTTP/1.1.
    func note(_ head: ByteBuffer, on stream: Int, at location: ResponseCache.Location, now: NIODeadline) {
        guard let candidate, candidate.stream == stream else { return }
        if let index = known.firstIndex(where: { $0.block == candidate.block }) {
            known[index].location = location
            known[index].used = now
            return
        }
        // A request with an identity of its own is not repeated.
        guard RequestIdentities.wanted(in: head) == nil, SignificantHead.traceID(of: head) == nil else { return }
        if known.count == Self.most, let oldest = known.indices.min(by: { known[$0].used < known[$1].used }) {
            known.remove(at: oldest)
        }
        // A copy: the bytes are a slice of a whole read.
        known.append(
            Request(block: ByteBuffer(bytes: candidate.block.readableBytesView), location: location, used: now)
        )
    }

    /// Returns where the response to a request is, if it was made a short time before.
    func location(of block: UnsafeRawBufferPointer, now: NIODeadline) -> ResponseCache.Location? {
        guard let index = known.firstIndex(where: { Self.isSame($0.block, block) }),
            now - known[index].used <= Self.time
        else { return nil }
        known[index].used = now
        return known[index].location
    }

    private static func isSame(_ known: ByteBuffer, _ block: UnsafeRawBufferPointer) -> Bool {
        guard known.readableBytes == block.count, let new = block.baseAddress else { return false }
        return known.withUnsafeReadableBytes { $0.baseAddress.map { memcmp($0, new, block.count) == 0 } ?? false }
    }
}

/// The representations of a header block (RFC 7541 §6).
enum HeaderBlock {
    /// Largest table of the encoder in bytes, whatever a client offers: it is searched from end to end for each field.
    static let tableSize = 4096

    /// Fields that hardly ever have the same value again: the table would lose others for them.
    private static let changing: Set = [
        "age", "content-length", "content-range", "date", "etag", "last-modified", "link", "location", "x-request-id",
    ]

    /// Returns how a field of a response is represented.
    static func indexing(of name: String) -> HPACKIndexing {
        // A secret (RFC 7541 §7.1.3).
        if name == "set-cookie" { return .neverIndexed }
        return changing.contains(name) ? .nonIndexable : .indexable
    }

    /// Whether a block does not change the dynamic table of its decoder: fields by index, and literals that are not
    /// added to the table. As long as the table stays, the same bytes are the same fields.
    static func leavesTable(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = Reader(bytes: bytes)
        while let first = reader.peek {
            if first & 0x80 != 0 {
                guard let index = reader.integer(prefix: 7), index > 0 else { return false }
            } else if first & 0x60 != 0 {
                // A literal that is added, or another size of the table.
                return false
            } else {
                guard let name = reader.integer(prefix: 4), name > 0 || reader.skipsString(), reader.skipsString()
                else { return false }
            }
        }
        return true
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var index = 0

        var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

        /// Reads an integer (RFC 7541 §5.1); nil if it is not whole, or larger than any that a request has.
        mutating func integer(prefix: Int) -> Int? {
            guard let first = peek else { return nil }
            index += 1
            let mask = 1 << prefix - 1
            var value = Int(first) & mask
            guard value == mask else { return value }
            for shift in [0, 7, 14] {
                guard let next = peek else { return nil }
                index += 1
                value += Int(next & 0x7F) << shift
                if next & 0x80 == 0 { return value }
            }
            return nil
        }

        /// Skips a string (RFC 7541 §5.2).
        mutating func skipsString() -> Bool {
            guard let length = integer(prefix: 7), length <= bytes.count - index else { return false }
            index += length
            return true
        }
    }
}
