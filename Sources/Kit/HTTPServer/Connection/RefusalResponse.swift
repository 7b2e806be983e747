import Foundation
import HTTPSemantics
import NIOCore
import NIOHTTP1

/// The response to a refused request: a problem in the application's own form, and the end of the connection.
struct RefusalResponse {
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
            // RFC 9110 §6.6.1: with every 4xx of a server that has a clock.
            "Date": HTTPDate.format(Date()),
        ]
        let head = HTTPResponseHead(
            version: version,
            status: HTTPResponseStatus(statusCode: refusal.status),
            headers: headers
        )
        parts = [.head(head)] + (isHEAD ? [] : [.body(.byteBuffer(ByteBuffer(bytes: body)))]) + [.end(nil)]
    }
}
