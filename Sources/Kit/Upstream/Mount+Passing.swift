import Foundation
import HTTPCaching
import HTTPTypes
import Logging
import NIOCore
import Storage

extension Mount {
    /// Passes the upstream's answer on; what it means for the store comes first (RFC 9111 §4.4), and it is stored on
    /// its way.
    func pass(_ arrival: Arrival, _ inquiry: MountInquiry, _ plan: Relay, _ flight: MountFlight?) async throws
        -> MountAnswer
    {
        let arrival = try await heed(arrival, inquiry, plan)
        let form: StoredResponse?
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

        let isBodiless = inquiry.judged.method == .head || head.status == .noContent || head.status == .notModified
        if isBodiless { try await drain(arrival) }
        guard let form else {
            flight?.land(.notStored)
            return MountAnswer(
                head: head,
                body: isBodiless ? .none : .stream(arrival.answer.body, length: arrival.announced)
            )
        }
        let keeper = BodyKeeper(announced: isBodiless ? 0 : arrival.announced, limit: largestStored, upstream) {
            [self] body in
            if let body {
                try await save(form, body, for: inquiry, by: arrival)
            } else {
                try await removeSuperseded(for: inquiry)
            }
        }
        if isBodiless {
            let isStored = await keeper.finishOrGiveUp()
            flight?.land(isStored ? .stored : .notStored)
            return MountAnswer(head: head, body: .none)
        }
        guard let announced = arrival.announced, announced <= BlobStore.inlineLimit else {
            return MountAnswer(
                head: head,
                body: .stream(
                    keeper.keeping(arrival.answer.body, flight, health: upstream.health),
                    length: arrival.announced
                )
            )
        }
        // A small one is taken whole: who waits for it does not wait for the speed of this client, and if it breaks
        // off, nobody has seen a part of it.
        let bytes: ByteBuffer
        do {
            bytes = try await arrival.answer.body.collect(upTo: announced)
            guard bytes.readableBytes == announced else {
                throw StorageError.incompleteBody(expected: announced, received: bytes.readableBytes)
            }
        } catch {
            try Task.checkCancellation()
            let failure = UpstreamError.badAnswer(status: arrival.answer.status, reason: UpstreamError.cutShort)
            upstream.health.heed(.failure(failure))
            flight?.land(.failed(failure))
            guard let validation = plan.validation, validation.fallback.contains(.unreachable),
                let answer = try await standIn(
                    inquiry,
                    validation,
                    plan.candidates[validation.index],
                    status: arrival.answer.status.code,
                    detail: "bad-response"
                )
            else { throw failure }
            return answer
        }
        keeper.append(bytes)
        let isStored = await keeper.finishOrGiveUp()
        flight?.land(isStored ? .stored : .notStored)
        return MountAnswer(head: head, body: .bytes(bytes))
    }

    /// An answer to HEAD and one to a write say something of what is stored. RFC 9111 §4.3.5, §4.4. Gives the answer as
    /// it stands then.
    private func heed(_ arrival: Arrival, _ inquiry: MountInquiry, _ plan: Relay) async throws -> Arrival {
        let changed = Invalidation.targets(of: inquiry.judged, url: inquiry.key, response: arrival.head)
        let arrival = changed.isEmpty ? arrival : try await invalidate(changed, by: arrival, to: inquiry)
        let effects = policy.effects(
            ofHead: arrival.head,
            to: inquiry.judged,
            candidates: plan.candidates.map(\.response),
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
        var updates: [FreshenedResponse] = []
        var outdated: [StoredAnswer.ID] = []
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

    /// Whether an answer that is not stored tells that the stored one, about which it was asked, is not current: it is
    /// whole (RFC 9111 §4.3.3) and about the resource, not about this request's part, preconditions or timing.
    private func isSuperseding(_ arrival: Arrival, _ inquiry: MountInquiry, _ plan: Relay) -> Bool {
        let code = arrival.answer.status.code
        return plan.validation != nil && inquiry.judged.method == .get && (200..<500).contains(code)
            && ![206, 304, 408, 412, 416, 429].contains(code)
    }

    private func storability(of arrival: Arrival, _ inquiry: MountInquiry) -> Storability {
        policy.storability(
            of: arrival.head,
            to: inquiry.judged,
            url: inquiry.key,
            requestTime: arrival.requestTime,
            responseTime: arrival.responseTime
        )
    }
}
