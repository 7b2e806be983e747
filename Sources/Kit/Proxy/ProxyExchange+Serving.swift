import Concurrency
import Database
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import NIOCore
import ResponseStore
import Upstream

extension ProxyExchange {
    /// Returns a stored response that may be used, and validates it in the background if it is to be (RFC 5861 §3).
    func serve(_ reuse: Reuse) async throws -> Progress {
        flight?.complete(.stored)
        let stored = candidates[reuse.index]
        guard let body = try await store.open(stored, for: request) else { return .event(.unreadable) }
        if let validation = reuse.revalidation {
            mount.revalidate(request, validation, among: candidates)
        }
        var response = served(
            reuse,
            body,
            as: reuse.status,
            isOffline: !client.reachability.isReachable
        )
        response.changeToken = snapshot?.changeToken(of: reuse, stored, request, in: mount)
        return .response(response)
    }

    /// Returns a stored response in place of the upstream's.
    func serveStale(_ validation: Validation, _ cause: StaleCause) async throws -> Progress {
        guard let body = try await store.open(candidates[validation.index], for: request) else {
            return .event(.unreadable)
        }
        let reuse = rules.reuse(
            of: validation.stored,
            at: validation.index,
            now: now,
            detail: cause.detail
        )
        let status =
            cause.isTried
            ? rules.account(
                of: validation.reason,
                upstreamStatus: cause.upstreamStatus,
                detail: cause.detail
            )
            : reuse.status
        return .response(served(reuse, body, as: status, isOffline: cause.isOffline))
    }

    /// Returns the response that another client's request has stored since this one began (RFC 9111 §4); not one that
    /// says `no-cache` (§5.2.2.4), nor one that a write has overtaken.
    func serveCollapsed(_ reason: CacheStatus.Forward) async throws -> Progress {
        let stored = try store.candidates(for: request)
        guard
            let index = rules.selectedIndex(
                for: request.cacheKeyRequest.headerFields,
                among: stored.map(\.head)
            ),
            isReceivedSince(stored[index]), !stored[index].isInvalidated,
            !CacheControl(stored[index].head.headerFields).contains("no-cache"),
            let body = try await store.open(stored[index], for: request)
        else { return .event(.unreadable) }
        let reuse = rules.reuse(of: stored[index].head, at: index, now: now)
        let status = rules.account(of: reason, upstreamStatus: nil, collapsed: true)
        return .response(served(reuse, body, as: status, isOffline: false))
    }

    /// Updates stored responses from a 304, and returns the one it is about (RFC 9111 §4.3.4).
    mutating func serveFreshened(_ updates: [FreshenedResponse], _ serving: FreshenedResponse)
        async throws -> Progress
    {
        guard let forwarded else { return .event(.unreadable) }
        try await drain(forwarded)
        // Opened before anything is removed: a response that may not be kept still serves this request.
        let body = try await store.open(candidates[serving.index], for: request)
        try await store.update(updates, of: candidates, from: forwarded, confirms: true)
        flight?.complete(.stored)
        guard let body else {
            candidates = []
            return .event(.unreadable)
        }
        let reuse = rules.reuse(of: serving.stored, at: serving.index, now: now)
        return .response(
            served(reuse, body, as: rules.account(of: plan.reason, upstreamStatus: 304), isOffline: false)
        )
    }

    /// Makes the response from the store. The client's own preconditions and range are evaluated here.
    func served(_ reuse: Reuse, _ body: MountBody, as cacheStatus: CacheStatus, isOffline: Bool)
        -> ProxyResponse
    {
        let length = body.length
        let response = ServedResponse(
            to: request.cacheKeyRequest,
            from: reuse.stored,
            age: reuse.age,
            bodyLength: length
        )
        var head = response.head
        cacheStatus.append(to: &head.headerFields, cacheName: rules.cacheName)
        if isOffline { head.headerFields[.larderOffline] = "?1" }
        return switch response.body {
        case .none: ProxyResponse(head: head, body: .none)
        case .whole: ProxyResponse(head: head, body: body.part(0..<length))
        case .part(let range):
            ProxyResponse(head: head, body: body.part(range.lowerBound..<(range.upperBound + 1)))
        }
    }
}
