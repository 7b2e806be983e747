import Concurrency
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import NIOCore
public import ResponseStore

extension Upstream {
    /// Reads a resource for a screen: from the network within the patience, else from the store; the provenance says
    /// which (docs/contract.md, "Freshness").
    ///
    /// - Parameter authorize: Adds the credentials of the request. Called only if the upstream is asked, so that no
    ///   secret is opened for a stored response.
    /// - Throws: What `authorize` throws; ``UpstreamError`` if there is nothing to respond with, or for a refusal that
    ///   a stored copy must not hide; `StorageError`; `CancellationError`.
    public func read(
        _ resource: Resource,
        _ cachePolicy: CachePolicy = .useCache,
        authorize: (inout Resource) async throws -> Void = { _ in }
    ) async throws -> ReadResult {
        let snapshot = try snapshot(of: resource)
        switch plan(for: resource, cachePolicy, from: snapshot) {
        case .notStored:
            throw UpstreamError.notStored
        case .leaveAlone(let seconds):
            throw UpstreamError.failing(status: snapshot.pause?.status ?? .tooManyRequests, retryAfter: seconds)
        case .serveStored(let cacheStatus, let offline, let stale):
            guard var result = snapshot.copy.result(cacheStatus, offline: offline, stale: stale) else {
                throw UpstreamError.notStored
            }
            if offline, client.isOwnOrigin(resource.url) { client.probeIfIdle() }
            if cacheStatus.detail == ReadPlan.pauseDetail { result.provenance.pausedUntil = snapshot.pause?.end }
            result.changeToken = changeToken(of: result.provenance, resource, from: snapshot)
            return result
        case .ask(let reason, let patience):
            var authorized = resource
            try await authorize(&authorized)
            let wait = resource.waitsToTimeout ? nil : patience
            return try await ask(for: authorized, because: reason, patience: wait, copy: snapshot.copy)
        }
    }

    /// Returns what a read of a resource depends on. Tokens are taken before the store is read, so that a change in
    /// between makes them invalid.
    private func snapshot(of resource: Resource) throws -> ReadSnapshot {
        let unchanged = ChangeToken(of: client.reachabilityVersion, responseChanges[resource.url])
        let unremoved = store.removalSnapshot()
        let stored = try storedResponse(of: resource)
        if let stored { store.noteUse(of: stored) }
        let now = clock.now()
        return ReadSnapshot(
            unchanged: unchanged,
            unremoved: unremoved,
            now: now,
            instant: .now(),
            copy: StoredCopy(
                response: stored,
                source: stored == nil ? resource.bundledSource : .upstream,
                validatedAt: stored?.head.responseTime ?? resource.bundledAt
            ),
            isReachable: client.isReachable(resource.url, at: now),
            // The upstream asked for the pause for itself, not for the hosts that it links to.
            pause: client.isOwnOrigin(resource.url) ? client.pause(for: resource.credential, at: now) : nil
        )
    }

    private func plan(for resource: Resource, _ cachePolicy: CachePolicy, from snapshot: ReadSnapshot) -> ReadPlan {
        ReadPlan.plan(
            stored: freshness(of: snapshot.copy.response, as: resource, at: snapshot.now),
            cachePolicy: cachePolicy,
            isReachable: snapshot.isReachable,
            paused: snapshot.pause?.seconds(at: snapshot.now),
            patience: configuration.patience
        )
    }

    /// Returns a token that holds while a further read is served with the same stored copy.
    private func changeToken(of provenance: Provenance, _ resource: Resource, from snapshot: ReadSnapshot)
        -> ChangeToken?
    {
        guard let validatedAt = provenance.validatedAt else { return nil }
        let age = abs(snapshot.now.timeIntervalSince(validatedAt))
        let rest: Double? =
            if provenance.offline {
                UpstreamHealth.shortestProbeInterval  // The next read may start a probe.
            } else if provenance.stale {
                snapshot.pause.map { $0.end.timeIntervalSince(snapshot.now) }
            } else {
                resource.freshness.map { $0.seconds - age }
            }
        let token = snapshot.unchanged.ending(
            // Within the range of the unit: thirty years count as no end.
            at: rest.map { snapshot.instant + .nanoseconds(Int64(min(max(0, $0), 1e9) * 1e9)) },
            age: RunningAge(
                seconds: age,
                timeToLive: provenance.cacheStatus?.timeToLive ?? 0,
                at: snapshot.instant
            )
        )
        guard let id = snapshot.copy.response?.id else { return token }
        return store.changeToken(of: id, since: snapshot.unremoved).map(token.and)
    }

    /// Returns the stored copy of a resource, whatever its age.
    ///
    /// - Throws: `StorageError`.
    public func storedResponse(of resource: Resource) throws -> CachedResponse? {
        try store.responses.responses(
            upstream: configuration.name,
            method: .get,
            url: resource.url,
            credential: resource.credential
        )
        .first { $0.credential == resource.credential }
    }

    private func freshness(of stored: CachedResponse?, as resource: Resource, at now: Date) -> ReadPlan.Stored {
        guard let stored else {
            return resource.bundledAt.map { .bundled(age: Int(abs(now.timeIntervalSince($0)))) } ?? .nothing
        }
        // Only the time since reception counts: a screen's freshness is Larder's own promise, not the upstream's.
        let lifetime = resource.freshness?.seconds ?? Double(Int32.max)
        let freshness = Freshness(lifetime: lifetime, age: stored.head.residentTime(at: now))
        return .copy(timeToLive: freshness.timeToLive, isFresh: freshness.isFresh && !stored.isInvalidated)
    }

    /// Asks the upstream, together with all that ask for the same at the same time.
    private func ask(
        for resource: Resource,
        because reason: CacheStatus.Forward,
        patience: Duration?,
        copy: StoredCopy
    ) async throws -> ReadResult {
        let (wait, collapsed) = await flights.run(resource.flightKey, patience: patience) {
            () async throws(UpstreamError) -> FetchOutcome in
            try await self.fetch(resource, asOf: copy.response)
        }
        switch wait {
        case .completed(.success(let outcome)):
            return outcome.result(because: reason, collapsed: collapsed)
        case .abandoned:
            try Task.checkCancellation()
            let cacheStatus = CacheStatus(.forward(reason), detail: "patience")
            guard let result = copy.result(cacheStatus, offline: false, stale: true) else {
                throw UpstreamError.unreachable(.totalTimeout)
            }
            return result
        case .completed(.failure(let error)):
            guard let validatedAt = copy.validatedAt,
                let provenance = Provenance.serveStale(
                    for: error,
                    source: copy.source,
                    storedAt: validatedAt,
                    contentFetchedAt: copy.response?.contentTime,
                    because: reason
                )
            else { throw error }
            return ReadResult(response: copy.response, provenance: provenance)
        }
    }
}

extension FetchOutcome {
    /// The result of a read that went to the upstream, or joined a request that did.
    fileprivate func result(because reason: CacheStatus.Forward, collapsed: Bool) -> ReadResult {
        let isShared = collapsed || upstreamStatus == nil
        let cacheStatus = CacheStatus(
            .forward(reason),
            forwardStatus: isShared || reason == .uriMiss ? nil : upstreamStatus,
            stored: !isShared && upstreamStatus == 200 && response.id != nil,
            collapsed: isShared
        )
        let provenance = Provenance(
            source: .upstream,
            validatedAt: response.head.responseTime,
            contentFetchedAt: response.contentTime,
            cacheStatus: cacheStatus,
            isValidatedNow: true
        )
        return ReadResult(response: response, provenance: provenance)
    }
}

/// What a read depends on.
private struct ReadSnapshot {
    /// Holds until the reachability or the stored response changes.
    let unchanged: ChangeToken
    /// Taken before the store was read.
    let unremoved: ChangeToken
    let now: Date
    /// The same instant on the monotonic clock.
    let instant: NIODeadline
    let copy: StoredCopy
    let isReachable: Bool
    let pause: Reachability.Pause?
}

/// What a read can be served with without a request.
private struct StoredCopy {
    /// The stored response; nil for the copy that comes with the app.
    let response: CachedResponse?
    let source: Provenance.Source
    /// When it was last validated; nil if there is no copy.
    let validatedAt: Date?

    func result(_ cacheStatus: CacheStatus, offline: Bool, stale: Bool) -> ReadResult? {
        validatedAt.map {
            ReadResult(
                response: response,
                provenance: .stored(
                    source,
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
