public import Foundation
public import HTTPTypes

/// What a response to HEAD means for a stored response to GET. RFC 9111 §4.3.5.
public enum HeadEffect: Sendable, Equatable {
    /// It tells of the same representation: replace the stored response by this.
    case update(FreshenedResponse)
    /// It tells of another one: the stored response at this index is not current any more.
    case outdated(index: Int)
}

extension CachingRules {
    /// The effects of a 200 answer to HEAD on each stored response that could have been selected for the same request.
    /// RFC 9111 §4.3.5.
    ///
    /// Same means: where the response has an entity tag, a modification date or a length, the stored response has the same.
    public func effects(
        ofHead response: HTTPResponse,
        to request: HTTPRequest,
        candidates: [CachedResponseHead],
        requestTime: Date,
        responseTime: Date
    ) -> [HeadEffect] {
        guard request.method == .head, response.status == .ok, !RequestDirectives(request.headerFields).noStore else {
            return []
        }
        return candidates.indices.filter {
            candidates[$0].status == .ok && candidates[$0].matches(request.headerFields)
        }.map { index in
            let stored = candidates[index]
            let isSame = [HTTPField.Name.eTag, .lastModified, .contentLength].allSatisfy { name in
                response.headerFields[name].map {
                    $0 == stored.headerFields[name] || (name == .contentLength && stored.headerFields[name] == nil)
                } ?? true
            }
            guard isSame else { return .outdated(index: index) }
            let updated = freshened(
                stored,
                by: response,
                request: request.headerFields,
                requestTime: requestTime,
                responseTime: responseTime
            )
            let directives = ResponseDirectives(updated.headerFields, policy: self)
            return .update(
                FreshenedResponse(index: index, stored: updated, mayBeKept: mayBeKept(updated, directives: directives))
            )
        }
    }
}
