public import Foundation
public import HTTPTypes

/// The effect of a response to HEAD on a stored response to GET. RFC 9111 §4.3.5.
public enum HeadEffect: Sendable, Equatable {
    /// It describes the same representation: replace the stored response by this one.
    case update(FreshenedResponse)
    /// It describes another representation: the stored response at this index is no longer current.
    case outdated(index: Int)
}

extension CachingRules {
    /// Returns the effects of a 200 to HEAD on each stored response that could have been selected for the same request.
    /// RFC 9111 §4.3.5.
    ///
    /// A representation is the same if each of entity tag, modification date and length that the response has equals
    /// that of the stored response.
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
            candidates[$0].wholeStatus == .ok && candidates[$0].matches(request.headerFields)
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
