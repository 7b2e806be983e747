import Foundation
import HTTPSemantics
import HTTPTypes

extension CachedResponseHead {
    /// The entity tag of the stored response.
    var entityTag: EntityTag? { headerFields.value(of: .eTag).flatMap { EntityTag($0) } }

    /// The modification date of the stored response; nil if it is absent or cannot be read.
    var lastModified: Date? {
        headerFields.value(of: .lastModified).flatMap { HTTPDate.parse($0, now: responseTime) }
    }

    /// Returns whether the client already holds the stored response, so that the response is a 304. RFC 9111 §4.3.2.
    func isNotModified(for request: HTTPFields) -> Bool {
        // RFC 9110 §13.2.1: preconditions are evaluated only if the response would be a success.
        guard status.kind == .successful, Preconditions.asksForNotModified(request) else { return false }
        // RFC 9111 §4.3.2: without Last-Modified, the date of the response is compared.
        return Preconditions.isNotModified(
            request,
            tag: entityTag,
            lastModified: lastModified ?? date,
            now: responseTime
        )
    }

    /// Returns whether `If-Range` permits a part to be sent; without the field, it does. RFC 9110 §13.1.5.
    func allowsRange(for request: HTTPFields) -> Bool {
        guard request.contains(.ifRange) else { return true }
        return Preconditions.allowsRange(
            request,
            tag: entityTag,
            lastModified: lastModified,
            date: date,
            now: responseTime
        )
    }
}
