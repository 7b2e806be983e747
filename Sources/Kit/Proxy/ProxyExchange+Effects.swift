import HTTPCaching
import HTTPTypes
import ResponseStore
import Upstream

extension ProxyExchange {
    /// Records what a response to HEAD (RFC 9111 §4.3.5) or to a write (§4.4) says of stored responses.
    ///
    /// - Returns: The response, as one received after the invalidation.
    func recordEffects(of received: ForwardedResponse) async throws -> ForwardedResponse {
        let changed = Invalidation.targets(of: request.cacheKeyRequest, url: request.key, response: received.head)
        let forwarded =
            changed.isEmpty ? received : try await store.invalidate(changed, by: received, to: request)
        let effects = rules.effects(
            ofHead: forwarded.head,
            to: request.cacheKeyRequest,
            candidates: candidates.map(\.head),
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        var updates: [FreshenedResponse] = []
        var outdated: [CachedResponse.ID] = []
        for effect in effects {
            switch effect {
            case .update(let update): updates.append(update)
            case .outdated(let index): if let id = candidates[index].id { outdated.append(id) }
            }
        }
        if !updates.isEmpty { try await store.update(updates, of: candidates, from: forwarded, confirms: false) }
        if !outdated.isEmpty { try await store.invalidate(outdated, under: request.key) }
        return forwarded
    }

    /// Returns the head under which a response is stored; nil if it is not stored. Then what it supersedes does not
    /// stay valid.
    func storedHead(of forwarded: ForwardedResponse) async throws -> CachedResponseHead? {
        let storability = rules.storability(
            of: forwarded.head,
            to: request.cacheKeyRequest,
            url: request.key,
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        switch storability {
        case .store(let head) where head.parts != nil: return isStorable(part: head) ? head : nil
        case .store(let head) where forwarded.announced ?? 0 <= store.largestBody: return head
        case .store: try await store.removeSuperseded(by: request)
        default:
            guard isSuperseding(forwarded) else { break }
            let ids = candidates.filter { $0.head.matches(request.cacheKeyRequest.headerFields) }.compactMap(\.id)
            try await store.invalidate(ids, under: request.key)
        }
        return nil
    }

    /// Whether a part is of use: no whole is stored, and one would be.
    private func isStorable(part head: CachedResponseHead) -> Bool {
        guard let length = head.parts?.completeLength, length <= store.largestBody else { return false }
        return !candidates.contains {
            $0.head.parts == nil && $0.head.matches(request.cacheKeyRequest.headerFields)
        }
    }

    /// Whether a response that is not stored shows that the stored one, which was to be validated, is not current: it
    /// is whole (RFC 9111 §4.3.3) and about the resource, not about this request's part, preconditions or timing.
    private func isSuperseding(_ forwarded: ForwardedResponse) -> Bool {
        let code = forwarded.response.status.code
        return plan.validation != nil && request.cacheKeyRequest.method == .get && (200..<500).contains(code)
            && ![206, 304, 408, 412, 416, 429].contains(code)
    }
}
