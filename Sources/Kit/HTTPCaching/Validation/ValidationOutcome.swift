public import Foundation
import HTTPSemantics
public import HTTPTypes

/// The result of a validation. RFC 9111 §4.3.3, §4.3.4.
public enum ValidationOutcome: Sendable, Equatable {
    /// 304 for stored responses: replace these, then serve the one at `serving` (by ``ServedResponse``, which evaluates
    /// the client's own preconditions).
    case freshened([FreshenedResponse], serving: FreshenedResponse)
    /// 304 for the representation that the client has: forward it; the stored response is not current.
    case passNotModified
    /// 304 that matches no known representation: send the request again without the preconditions of the cache.
    case retryUnconditionally
    /// The upstream failed, and the stored response may be used nevertheless.
    case useStored
    /// A full response or an error: forward it, and store it if it may be stored.
    case replace
}

extension CachingRules {
    /// Returns the result of a validation.
    /// - Parameters:
    ///   - validation: the validation, from ``Decision``.
    ///   - response: the head of its response.
    ///   - request: the client's request with which the decision was made.
    ///   - candidates: the stored responses with which the decision was made.
    ///   - requestTime: when the request was sent.
    ///   - responseTime: when the head of the response was received.
    public func outcome(
        of validation: Validation,
        response: HTTPResponse,
        request: HTTPRequest,
        candidates: [CachedResponseHead],
        requestTime: Date,
        responseTime: Date
    ) -> ValidationOutcome {
        if response.status != .notModified {
            return validation.fallback.covers(status: response.status.code) ? .useStored : .replace
        }
        let condition = validation.condition
        let indices = freshenedIndices(by: response, validation: validation, request: request, candidates: candidates)
        guard !indices.isEmpty else { return condition.asksForClient ? .passNotModified : .retryUnconditionally }
        let updates = indices.map { index in
            let stored = freshened(
                candidates[index],
                by: response,
                request: request.headerFields,
                requestTime: requestTime,
                responseTime: responseTime
            )
            let directives = ResponseDirectives(stored.headerFields, policy: self)
            return FreshenedResponse(index: index, stored: stored, mayBeKept: mayBeKept(stored, directives: directives))
        }
        guard let serving = updates.first(where: { $0.index == validation.index }) ?? updates.first else {
            return .retryUnconditionally
        }
        return .freshened(updates, serving: serving)
    }

    /// Returns the stored responses that a 304 updates. RFC 9111 §4.3.4: a strong validator in the 304 updates every
    /// stored response that has it, a weak one the most recent that has it. Without any validator it updates the
    /// response that was validated, provided that the request named no other one.
    private func freshenedIndices(
        by response: HTTPResponse,
        validation: Validation,
        request: HTTPRequest,
        candidates: [CachedResponseHead]
    ) -> [Int] {
        let selectable = candidates.indices.filter {
            candidates[$0].isSelectable && candidates[$0].matches(request.headerFields)
        }
        if let tag = response.headerFields[.eTag].flatMap({ EntityTag($0) }) {
            let matching = selectable.filter { index in
                candidates[index].entityTag?.matchesWeakly(tag) ?? false
            }
            return tag.isWeak ? mostRecent(of: matching, among: candidates) : matching
        }
        if let modified = response.headerFields[.lastModified] {
            let matching = selectable.filter { candidates[$0].headerFields[.lastModified] == modified }
            return mostRecent(of: matching, among: candidates)
        }
        let isMeant = validation.condition.asksForStored && !validation.condition.asksForClient
        return isMeant && selectable.contains(validation.index) ? [validation.index] : []
    }

    private func mostRecent(of indices: [Int], among candidates: [CachedResponseHead]) -> [Int] {
        indices.max { candidates[$0].date < candidates[$1].date }.map { [$0] } ?? []
    }
}
