import Foundation
import HTTPCaching
import HTTPTypes
import NIOCore
public import Storage

extension Upstream {
    /// Reads a resource for a screen: network first within the patience, else the stored copy, and truthful about which
    /// (design/screens.md 1.5).
    ///
    /// - Parameter authorize: Adds the credentials of the request. Called only if the upstream is asked, so that no
    ///   secret is opened for a stored response.
    /// - Throws: What `authorize` throws; ``UpstreamError`` when there is nothing to answer with, or news (4xx) that a stored copy must not
    ///   hide; `StorageError`; `CancellationError`.
    public func read(
        _ resource: Resource,
        _ cachePolicy: CachePolicy = .useCache,
        authorize: (inout Resource) async throws -> Void = { _ in }
    ) async throws -> ReadResult {
        let seen = ChangeToken(of: health.stamp, responseChanges[resource.url])
        let unremoved = removals.snapshot()
        let stored = try storedResponse(of: resource)
        let (now, instant) = (clock.now(), NIODeadline.now())
        if let stored { accessRecorder.note(stored, at: now) }
        let fallback = Fallback(response: stored, storedAt: stored?.head.responseTime ?? resource.bundledAt)
        let reachability = self.reachability
        let plan = ReadPlan.plan(
            stored: freshness(of: stored, as: resource, at: now),
            cachePolicy: cachePolicy,
            isReachable: reachability.isReachable,
            // It asked for itself; a host that it only links to did not.
            paused: exchange.targets.target(of: resource.url) == .ownOrigin ? reachability.secondsPaused(at: now) : nil,
            patience: configuration.patience
        )
        switch plan {
        case .notStored:
            throw UpstreamError.notStored
        case .leaveAlone(let seconds):
            throw UpstreamError.failing(status: reachability.pausedBy ?? .tooManyRequests, retryAfter: seconds)
        case .serveStored(let cacheStatus, let offline, let stale):
            guard var reading = fallback.reading(cacheStatus, offline: offline, stale: stale),
                let storedAt = fallback.storedAt
            else {
                throw UpstreamError.notStored
            }
            let end: Date?
            if offline {
                end = nil  // only its return changes anything
            } else if stale {
                end = reachability.pausedUntil.flatMap { $0 > now ? $0 : nil }
            } else {
                end = resource.freshness.map { storedAt + $0.seconds }
            }
            reading.changeToken = seen.ending(
                // Within the range of the unit: nobody misses a rendering in thirty years.
                at: end.map { instant + .nanoseconds(Int64(min(max(0, $0.timeIntervalSince(now)), 1e9) * 1e9)) },
                age: RunningAge(
                    seconds: now.timeIntervalSince(storedAt),
                    timeToLive: cacheStatus.timeToLive ?? 0,
                    at: instant
                )
            )
            if let id = stored?.id {
                let uses = AccessReporter { [accessRecorder, clock] in accessRecorder.note(id, at: clock.now()) }
                reading.changeToken = removals.changeToken(of: id, since: unremoved).flatMap {
                    reading.changeToken?.and($0).noting(uses)
                }
            }
            return reading
        case .ask(let reason, let patience):
            var authorized = resource
            try await authorize(&authorized)
            return try await ask(for: authorized, because: reason, patience: patience, fallback: fallback)
        }
    }

    /// The stored copy of a resource, however old.
    public func storedResponse(of resource: Resource) throws -> CachedResponse? {
        try responses.responses(
            upstream: configuration.name,
            method: .get,
            url: resource.url,
            credential: resource.credential
        )
        .first { $0.credential == resource.credential }
    }

    private func freshness(of stored: CachedResponse?, as resource: Resource, at now: Date) -> ReadPlan.Stored {
        guard let stored else {
            return resource.bundledAt.map { .bundled(age: max(0, Int(now.timeIntervalSince($0)))) } ?? .nothing
        }
        // Only the time since reception counts: a screen's freshness is Larder's own promise, not the upstream's.
        let lifetime = resource.freshness?.seconds ?? Double(Int32.max)
        let freshness = Freshness(lifetime: lifetime, age: stored.head.residentTime(at: now))
        return .copy(timeToLive: freshness.timeToLive, isFresh: freshness.isFresh && !stored.isInvalidated)
    }

    private func ask(
        for resource: Resource,
        because reason: CacheStatus.Forward,
        patience: Duration?,
        fallback: Fallback
    ) async throws -> ReadResult {
        let (arrival, collapsed) = await flights.run(resource.flightKey, patience: patience) {
            () async throws(UpstreamError) -> FetchOutcome in
            try await self.fetch(resource, asOf: fallback.response)
        }
        switch arrival {
        case .completed(.success(let outcome)):
            let isShared = collapsed || outcome.upstreamStatus == nil
            let cacheStatus = CacheStatus(
                .forward(reason),
                forwardStatus: isShared || reason == .uriMiss ? nil : outcome.upstreamStatus,
                stored: !isShared && outcome.upstreamStatus == 200 && outcome.response.id != nil,
                collapsed: isShared
            )
            let provenance = Provenance(
                source: .upstream,
                validatedAt: outcome.response.head.responseTime,
                contentFetchedAt: outcome.response.contentTime,
                cacheStatus: cacheStatus
            )
            return ReadResult(response: outcome.response, provenance: provenance)
        case .abandoned:
            try Task.checkCancellation()
            guard
                let reading = fallback.reading(
                    CacheStatus(.forward(reason), detail: "patience"),
                    offline: false,
                    stale: true
                )
            else {
                throw UpstreamError.unreachable(.totalTimeout)
            }
            return reading
        case .completed(.failure(let error)):
            guard let storedAt = fallback.storedAt,
                let provenance = Provenance.serveStale(
                    for: error,
                    storedAt: storedAt,
                    contentFetchedAt: fallback.response?.contentTime,
                    because: reason
                )
            else { throw error }
            return ReadResult(response: fallback.response, provenance: provenance)
        }
    }
}

/// What can be answered without the upstream.
private struct Fallback {
    /// The stored copy; nil where the app's bundled one stands in.
    let response: CachedResponse?
    /// When it was fetched; nil where there is nothing.
    let storedAt: Date?

    func reading(_ cacheStatus: CacheStatus, offline: Bool, stale: Bool) -> ReadResult? {
        storedAt.map {
            ReadResult(
                response: response,
                provenance: .stored(
                    at: $0,
                    contentFetchedAt: response?.contentTime,
                    cacheStatus,
                    offline: offline,
                    stale: stale
                )
            )
        }
    }
}
