package import Foundation
package import HTTPTypes

/// A stored response that must be validated before it is used.
package struct Validation: Sendable, Equatable {
    /// Its index among the candidates.
    package var index: Int
    package var stored: CachedResponseHead
    /// The preconditions to put into the request; none if the stored response has no validator.
    package var condition: ConditionalRequest
    /// Why the stored response cannot be used: `stale` or `request`.
    package var reason: CacheStatus.Forward
    /// The failures after which the stored response may be used nevertheless.
    package var fallback: Fallback
}

/// The preconditions with which a stored response is validated. RFC 9111 §4.3.1.
package struct ConditionalRequest: Sendable, Equatable {
    /// Value of `If-None-Match` to send; the client's own tags follow the stored one.
    package var ifNoneMatch: String?
    /// Value of `If-Modified-Since` to send.
    package var ifModifiedSince: String?
    /// Whether a 304 can refer to the stored response.
    package var asksForStored: Bool
    /// Whether a 304 can refer to a representation that the client has and the cache does not.
    package var asksForClient: Bool

    /// Builds the preconditions from the stored validators and those of the client.
    ///
    /// The client's tags are sent after the stored one, so that a version that only the client has costs no transfer.
    /// Its date is replaced by the stored one: the cache evaluates it afterwards. If the stored response has no tag but
    /// the client sends one, only the client's precondition is sent, because origins ignore `If-Modified-Since` beside
    /// `If-None-Match` (RFC 9110 §13.1.3).
    /// - Parameters:
    ///   - stored: the stored response.
    ///   - client: header fields of the client's request.
    package init(validating stored: CachedResponseHead, client: HTTPFields) {
        let storedTag = stored.entityTag
        let modified = stored.headerFields.value(of: .lastModified)
        let condition = EntityTagCondition(lines: client[values: .ifNoneMatch])
        if let storedTag {
            var others: [EntityTag] = []
            if case .tags(let tags)? = condition { others = tags.filter { $0.opaque != storedTag.opaque } }
            ifNoneMatch = ([storedTag] + others).map(\.text).joined(separator: ", ")
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = !others.isEmpty
        } else if let modified, condition == nil {
            ifModifiedSince = modified
            asksForStored = true
            asksForClient = false
        } else {
            ifNoneMatch = client.value(of: .ifNoneMatch)
            ifModifiedSince = client.value(of: .ifModifiedSince)
            asksForStored = false
            asksForClient = ifNoneMatch != nil || ifModifiedSince != nil
        }
    }

    /// Replaces the client's preconditions by these.
    package func apply(to fields: inout HTTPFields) {
        fields[.ifNoneMatch] = ifNoneMatch
        fields[.ifModifiedSince] = ifModifiedSince
    }
}

/// The result of a validation. RFC 9111 §4.3.3, §4.3.4.
package enum ValidationOutcome: Sendable, Equatable {
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
    package func outcome(
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

/// A stored response with the header fields of a later response.
package struct FreshenedResponse: Sendable, Equatable {
    /// Its index among the candidates.
    package var index: Int
    /// Its new form.
    package var stored: CachedResponseHead
    /// Whether it may stay stored; if not, it may serve this request and must then be removed (for example because it
    /// is now `no-store`).
    package var mayBeKept: Bool
}

extension CachingRules {
    /// Fields that stay as stored, because they describe the stored bytes. RFC 9111 §3.2: `Content-Length` never
    /// changes, and neither do the coding and the range of bytes that are stored as received.
    static let describingBytes: Set<HTTPField.Name> = [.contentLength, .contentEncoding, .contentRange]

    /// Returns a stored response with the header fields of a later one. RFC 9111 §3.2.
    /// - Parameters:
    ///   - stored: the stored response.
    ///   - response: the later response.
    ///   - request: header fields of its request, which matched the stored response.
    ///   - requestTime: when that request was sent.
    ///   - responseTime: when the head of the later response was received.
    package func freshened(
        _ stored: CachedResponseHead,
        by response: HTTPResponse,
        request: HTTPFields,
        requestTime: Date,
        responseTime: Date
    ) -> CachedResponseHead {
        let directives = ResponseDirectives(response.headerFields, policy: self)
        var update = storableFields(of: response.headerFields, directives: directives, responseTime: responseTime)
        update.removeAll(named: Self.describingBytes)
        var result = stored
        let names = Set(update.map(\.name))
        // The stored Age was that of an earlier validation; a response without Age starts at 0 (§4.2.3).
        result.headerFields.removeAll(named: names.union([.age]))
        result.headerFields.append(contentsOf: update)
        // Fields that the merged response forbids to store are removed, also if a directive stored before names them.
        let merged = ResponseDirectives(result.headerFields, policy: self)
        result.headerFields.removeAll(named: Set(merged.restrictedFields(shared: shared)))
        result.varyingFields = Vary(result.headerFields).nominated(in: request)
        result.requestTime = requestTime
        result.responseTime = responseTime
        return result
    }

    /// Returns whether the directives of the freshened response permit it to stay stored.
    func mayBeKept(_ stored: CachedResponseHead, directives: ResponseDirectives) -> Bool {
        let isUnderstood = directives.mustUnderstand && Self.understood.contains(stored.status.code)
        if directives.noStore, !isUnderstood { return false }
        if shared, directives.isPrivate == .everything { return false }
        return Vary(stored.headerFields) != .everything
    }
}

/// The effect of a response to HEAD on a stored response to GET. RFC 9111 §4.3.5.
package enum HeadEffect: Sendable, Equatable {
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
    package func effects(
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
