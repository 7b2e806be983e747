import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// Adapts a response to its request: ETag and 304, gzip, HEAD. The same for every route.
enum ScreenResponseRenderer {
    /// Bodies below this many bytes are not worth compressing.
    static let smallestCompressed = 512

    static func render(_ response: ScreenResponse, for request: HTTPRequest) throws -> Response {
        var fields = response.headerFields
        fields[.contentTypeOptions] = "nosniff"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        switch response.body {
        case .none:
            return bodiless(response.status, fields)
        case .stream(let type, let body):
            fields[.contentType] = type
            if request.method == .head {
                // RFC 9110 §8.6: the length of the response to GET, if it has one.
                var response = Response(status: response.status, headers: fields)
                response.headers[.contentLength] = body.contentLength.map { String($0) }
                return response
            }
            return Response(status: response.status, headers: fields, body: body)
        case .bytes(let bytes, let type):
            return try represent(bytes, type: type, of: response, fields: fields, for: request)
        case .prepared(let prepared):
            return try represent(
                prepared.bytes,
                type: prepared.type,
                prepared: prepared,
                of: response,
                fields: fields,
                for: request
            )
        }
    }

    /// Whether a body is worth compressing.
    static func isCompressible(_ bytes: Data, _ type: String) -> Bool {
        bytes.count >= smallestCompressed && MediaType.isCompressible(type)
    }

    /// Returns a response with these bytes in an encoding that the request accepts.
    private static func represent(
        _ bytes: Data,
        type: String,
        prepared: PreparedBytes? = nil,
        of response: ScreenResponse,
        fields: HTTPFields,
        for request: HTTPRequest
    ) throws -> Response {
        var fields = fields
        fields[.contentType] = type
        let isCompressible = isCompressible(bytes, type)
        if isCompressible { fields.vary(on: .acceptEncoding) }
        let isCompressed = isCompressible && AcceptedEncodings.allowGzip(request.headerFields[values: .acceptEncoding])
        let status = response.status
        // The response to a write is not a representation of its target, so it has no validator (RFC 9110 §8.8).
        if response.hasValidator, status == .ok, request.method == .get || request.method == .head {
            let tag =
                prepared?.entityTag(isCompressed: isCompressed)
                ?? EntityTag.strong(for: bytes, version: response.version, variant: isCompressed ? "gzip" : nil)
            fields[.eTag] = tag
            if EntityTag.matches(request.headerFields[values: .ifNoneMatch], tag) { return notModified(fields) }
        }
        var body = bytes
        if isCompressed {
            body = try prepared?.compressed() ?? Gzip.compress(bytes)
            fields[.contentEncoding] = "gzip"
        }
        fields[.contentLength] = String(body.count)
        return Response(
            status: status,
            headers: fields,
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
    }

    /// Returns a 304 with the fields that the 200 would have, except those of its body (RFC 9110 §15.4.5).
    private static func notModified(_ fields: HTTPFields) -> Response {
        var fields = fields
        fields[.contentType] = nil
        fields[.contentLanguage] = nil
        return bodiless(.notModified, fields)
    }

    /// Returns a response without a body. 204 and 304 do not have a length of 0 either (RFC 9110 §8.6).
    private static func bodiless(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Response {
        var response = Response(status: status, headers: fields)
        if status == .noContent || status == .notModified { response.headers[.contentLength] = nil }
        return response
    }
}
