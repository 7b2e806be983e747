import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Storage

extension Mount {
    /// Passes the upstream's response on; what it means for the store comes first (RFC 9111 §4.4), and it is stored on
    /// its way.
    func pass(_ arrival: Arrival, _ inquiry: ProxiedRequest, _ plan: ForwardPlan, _ flight: MountFlight?) async throws
        -> ProxyResponse
    {
        let arrival = try await record(arrival, inquiry, plan)
        let form: CachedResponseHead?
        switch storability(of: arrival, inquiry) {
        case .store(let stored) where arrival.announced ?? 0 <= largestStored: form = stored
        case .store:
            try await removeSuperseded(for: inquiry)
            form = nil
        default:
            if isSuperseding(arrival, inquiry, plan) { try await doubt(plan.candidates, for: inquiry) }
            form = nil
        }
        var head = arrival.head
        HopByHop.remove(from: &head.headerFields)
        policy.account(of: plan.reason, upstreamStatus: head.status.code, stored: form != nil).append(
            to: &head.headerFields,
            cacheName: policy.cacheName
        )

        let isBodiless =
            inquiry.cacheKeyRequest.method == .head || head.status == .noContent || head.status == .notModified
        if isBodiless { try await drain(arrival) }
        guard let form else {
            flight?.complete(.notStored)
            return ProxyResponse(
                head: head,
                body: isBodiless ? .none : .stream(arrival.response.body, length: arrival.announced)
            )
        }
        let keeper = CachingBodyTee(announced: isBodiless ? 0 : arrival.announced, limit: largestStored, upstream) {
            [self] body in
            if let body {
                try await save(form, body, for: inquiry, by: arrival)
            } else {
                try await removeSuperseded(for: inquiry)
            }
        }
        if isBodiless {
            let isStored = await keeper.finishOrGiveUp()
            flight?.complete(isStored ? .stored : .notStored)
            return ProxyResponse(head: head, body: .none)
        }
        guard let announced = arrival.announced, announced <= BlobStore.inlineLimit else {
            return ProxyResponse(
                head: head,
                body: .stream(
                    keeper.keeping(arrival.response.body, flight, health: upstream.health),
                    length: arrival.announced
                )
            )
        }
        // A small one is taken whole: who waits for it does not wait for the speed of this client, and if it breaks
        // off, nobody has seen a part of it.
        let bytes: ByteBuffer
        do {
            bytes = try await arrival.response.body.collect(upTo: announced)
            guard bytes.readableBytes == announced else {
                throw StorageError.incompleteBody(expected: announced, received: bytes.readableBytes)
            }
        } catch {
            try Task.checkCancellation()
            let failure = UpstreamError.badResponse(status: arrival.response.status, reason: UpstreamError.cutShort)
            upstream.health.record(.failure(failure))
            flight?.complete(.failed(failure))
            guard let validation = plan.validation, validation.fallback.contains(.unreachable),
                let response = try await serveStale(
                    inquiry,
                    validation,
                    plan.candidates[validation.index],
                    status: arrival.response.status.code,
                    detail: "bad-response"
                )
            else { throw failure }
            return response
        }
        keeper.append(bytes)
        let isStored = await keeper.finishOrGiveUp()
        flight?.complete(isStored ? .stored : .notStored)
        return ProxyResponse(head: head, body: .bytes(bytes))
    }

    /// A response to HEAD and one to a write say something of what is stored. RFC 9111 §4.3.5, §4.4. Gives the response as
    /// it stands then.
    private func record(_ arrival: Arrival, _ inquiry: ProxiedRequest, _ plan: ForwardPlan) async throws -> Arrival {
        let changed = Invalidation.targets(of: inquiry.cacheKeyRequest, url: inquiry.key, response: arrival.head)
        let arrival = changed.isEmpty ? arrival : try await invalidate(changed, by: arrival, to: inquiry)
        let effects = policy.effects(
            ofHead: arrival.head,
            to: inquiry.cacheKeyRequest,
            candidates: plan.candidates.map(\.head),
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
        var updates: [FreshenedResponse] = []
        var outdated: [CachedResponse.ID] = []
        for effect in effects {
            switch effect {
            case .update(let update): updates.append(update)
            case .outdated(let index): if let id = plan.candidates[index].id { outdated.append(id) }
            }
        }
        if !updates.isEmpty { try await keep(updates, of: plan.candidates, by: arrival, confirms: false) }
        if !outdated.isEmpty { try await doubt(outdated, under: inquiry.key) }
        return arrival
    }

    /// Whether a response that is not stored tells that the stored one, about which it was asked, is not current: it is
    /// whole (RFC 9111 §4.3.3) and about the resource, not about this request's part, preconditions or timing.
    private func isSuperseding(_ arrival: Arrival, _ inquiry: ProxiedRequest, _ plan: ForwardPlan) -> Bool {
        let code = arrival.response.status.code
        return plan.validation != nil && inquiry.cacheKeyRequest.method == .get && (200..<500).contains(code)
            && ![206, 304, 408, 412, 416, 429].contains(code)
    }

    private func storability(of arrival: Arrival, _ inquiry: ProxiedRequest) -> Storability {
        policy.storability(
            of: arrival.head,
            to: inquiry.cacheKeyRequest,
            url: inquiry.key,
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
    }
}
