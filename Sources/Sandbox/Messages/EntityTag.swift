import Crypto
import Foundation
import HTTPTypes

/// The strong entity tag that the SpaceX API was recorded with: hexadecimal length of the body, `-`, first 27
/// characters of base64(SHA-1(body)).
enum EntityTag {
    static func strong(for body: [UInt8]) -> String {
        let digest = Data(Insecure.SHA1.hash(data: body)).base64EncodedString().prefix(27)
        return "\"\(String(body.count, radix: 16))-\(digest)\""
    }

    /// Whether an `If-None-Match` field matches, by weak comparison (RFC 9110 sections 8.8.3.2 and 13.1.2).
    static func matches(_ ifNoneMatch: String, tag: String) -> Bool {
        if ifNoneMatch.trimmingCharacters(in: .whitespaces) == "*" { return true }
        // A tag contains no quote (section 8.8.3), so every second piece between quotes is one.
        let pieces = ifNoneMatch.split(separator: "\"", omittingEmptySubsequences: false)
        guard pieces.count % 2 == 1 else { return false }
        return stride(from: 1, to: pieces.count, by: 2).contains { "\"\(pieces[$0])\"" == tag }
    }
}

extension UpstreamResponse {
    /// Returns the response with its entity tag, or 304 without a body if the request names that tag. GET and HEAD
    /// only.
    ///
    /// - Parameter weak: Whether the tag is marked as weak, as Express does.
    func conditional(on request: UpstreamRequest, weak: Bool = false) -> UpstreamResponse {
        var response = self
        let tag = EntityTag.strong(for: body)
        response.headers[.eTag] = weak ? "W/\(tag)" : tag
        guard request.method == .get || request.method == .head, let condition = request.headers[.ifNoneMatch],
            EntityTag.matches(condition, tag: tag)
        else {
            return response
        }
        response.status = .notModified
        response.headers[.contentType] = nil
        response.body = []
        return response
    }
}
