import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Fits a reply to the request that asked for it: ETag and 304, gzip, HEAD. Pure: the same for every route.
enum ReplyRenderer {
    /// Bodies below this many bytes are not worth compressing.
    static let smallestCompressed = 512

    static func render(_ reply: Reply, for request: HTTPRequest) throws -> Response {
        var fields = reply.headerFields
        fields[.contentTypeOptions] = "nosniff"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        switch reply.body {
        case .none:
            return bodiless(reply.status, fields)
        case .stream(let type, let body):
            fields[.contentType] = type
            if request.method == .head { return Response(status: reply.status, headers: fields) }
            return Response(status: reply.status, headers: fields, body: body)
        case .bytes(var bytes, let type):
            fields[.contentType] = type
            var variant: String?
            if bytes.count >= smallestCompressed, MediaType.isCompressible(type) {
                fields.vary(on: .acceptEncoding)
                if AcceptEncoding.allowsGzip(request.headerFields[values: .acceptEncoding]) { variant = "gzip" }
            }
            if reply.hasValidator, reply.status == .ok, fields[.eTag] == nil {
                fields[.eTag] = EntityTag.strong(for: bytes, variant: variant)
            }
            if reply.hasValidator, isSafe(request.method), let tag = fields[.eTag],
                EntityTag.matches(request.headerFields[values: .ifNoneMatch], tag), !request.headerFields[values: .ifNoneMatch].isEmpty
            {
                // RFC 9110 §15.4.5: what a 200 would have said of caching, without what describes the body.
                fields[.contentType] = nil
                return bodiless(.notModified, fields)
            }
            if variant == "gzip" {
                bytes = try Gzip.compress(bytes)
                fields[.contentEncoding] = "gzip"
            }
            fields[.contentLength] = String(bytes.count)
            let body = request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            return Response(status: reply.status, headers: fields, body: body)
        }
    }

    /// An answer without a body. 204 and 304 do not even have a length of 0 (RFC 9110 §8.6).
    private static func bodiless(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Response {
        var response = Response(status: status, headers: fields)
        if status == .noContent || status == .notModified { response.headers[.contentLength] = nil }
        return response
    }

    private static func isSafe(_ method: HTTPRequest.Method) -> Bool { method == .get || method == .head }
}
