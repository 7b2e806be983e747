import Crypto
package import Foundation
package import HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Server

/// Adapts a response to its request: ETag and 304, gzip, HEAD. The same for every route.
enum ScreenResponseRenderer {
    /// Bodies below this many bytes are not worth compressing.
    private static let smallestCompressed = 512

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
            return try represent(type, bytes.count, of: response, fields, for: request) { isCompressed in
                EntityTag.strong(for: bytes, version: response.version, variant: isCompressed ? "gzip" : nil)
            } body: { isCompressed in
                ByteBuffer(bytes: isCompressed ? try Gzip.compress(bytes) : bytes)
            }
        case .prepared(let prepared):
            return try represent(
                prepared.type,
                prepared.body.readableBytes,
                of: response,
                fields,
                for: request,
                tag: prepared.entityTag
            ) { isCompressed in
                isCompressed ? try prepared.compressedBody() ?? prepared.body : prepared.body
            }
        }
    }

    /// Whether a body is worth compressing.
    static func isCompressible(_ count: Int, _ type: String) -> Bool {
        count >= smallestCompressed && MediaType.isCompressible(type)
    }

    /// Returns a response with a body in an encoding that the request accepts.
    ///
    /// - Parameters:
    ///   - count: Bytes of the uncompressed body.
    ///   - tag: Returns the entity tag of the body, compressed or not.
    ///   - body: Returns the body, compressed or not.
    private static func represent(
        _ type: String,
        _ count: Int,
        of response: ScreenResponse,
        _ fields: HTTPFields,
        for request: HTTPRequest,
        tag: (_ isCompressed: Bool) -> String,
        body: (_ isCompressed: Bool) throws -> ByteBuffer
    ) throws -> Response {
        var fields = fields
        fields[.contentType] = type
        let isCompressible = isCompressible(count, type)
        if isCompressible { fields.vary(on: .acceptEncoding) }
        let isCompressed = isCompressible && AcceptedEncodings.allowGzip(request.headerFields[values: .acceptEncoding])
        let status = response.status
        // The response to a write is not a representation of its target, so it has no validator (RFC 9110 §8.8).
        if response.hasValidator, status == .ok, request.method == .get || request.method == .head {
            let entityTag = tag(isCompressed)
            fields[.eTag] = entityTag
            if EntityTag.matches(request.headerFields[values: .ifNoneMatch], entityTag) { return notModified(fields) }
        }
        let content = try body(isCompressed)
        if isCompressed { fields[.contentEncoding] = "gzip" }
        fields[.contentLength] = String(content.readableBytes)
        return Response(
            status: status,
            headers: fields,
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: content)
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

// Entity tags of responses that Larder makes itself. Lists of tags are read and compared in HTTPSemantics only.
extension EntityTag {
    /// Creates a strong tag of these bytes.
    ///
    /// - Parameters:
    ///   - version: version of the content, without `.` and `"`. It is first, so that `If-Match` names it whatever the
    ///     encoding in which a client got it.
    ///   - variant: tells encodings of the same content apart (RFC 9110 §8.8.3.3).
    package static func strong(for bytes: Data, version: String? = nil, variant: String? = nil) -> String {
        let digest = Data(SHA256.hash(data: bytes).prefix(15)).base64EncodedString()
        return "\"\(version.map { "\($0)." } ?? "")\(digest)\(variant.map { "-\($0)" } ?? "")\""
    }

    /// The version that a tag of ``strong(for:version:variant:)`` names; of another tag all that is between its
    /// quotation marks.
    ///
    /// Nil if the tag has no quotation marks (RFC 9110 §8.8.3).
    package var version: String? {
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\"") else { return nil }
        return String(opaque.dropFirst().dropLast().prefix { $0 != "." })
    }

    /// Whether an `If-None-Match` names this tag, compared weakly; `*` names every tag (RFC 9110 §13.1.2).
    package static func matches(_ ifNoneMatch: [String], _ tag: String) -> Bool {
        guard let tag = EntityTag(tag), let condition = EntityTagCondition(lines: ifNoneMatch) else { return false }
        return condition.matchesWeakly(tag)
    }
}
