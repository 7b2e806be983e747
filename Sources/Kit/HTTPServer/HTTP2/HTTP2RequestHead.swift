import HTTPSemantics
import NIOCore
import NIOHPACK
import NIOHTTP1

/// The header block of a request (RFC 9113 §8.3.1) in the terms of HTTP/1.1, so that the same rules judge both: what
/// those refuse, such as two hosts, is left for them.
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
    /// - Parameter hasBody: Whether the stream goes on behind it.
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
