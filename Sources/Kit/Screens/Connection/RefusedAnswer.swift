import NIOCore
import NIOHTTP1

/// The answer to a refused request: a problem in the application's own form, and the end of the connection.
struct RefusedAnswer {
    /// Head, body and end as the encoder takes them.
    let parts: [HTTPServerResponsePart]

    init(
        _ refusal: ConnectionRefusal,
        version: HTTPVersion,
        isHEAD: Bool,
        problem: (ConnectionRefusal) -> (contentType: String, body: [UInt8])
    ) {
        let (contentType, body) = problem(refusal)
        let headers: HTTPHeaders = [
            "Content-Type": contentType,
            "Content-Length": String(body.count),
            "Connection": "close",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        ]
        let head = HTTPResponseHead(version: version, status: HTTPResponseStatus(statusCode: refusal.status), headers: headers)
        parts = [.head(head)] + (isHEAD ? [] : [.body(.byteBuffer(ByteBuffer(bytes: body)))]) + [.end(nil)]
    }
}
