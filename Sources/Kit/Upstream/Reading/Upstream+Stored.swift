import Database
import Foundation
import Freshness
public import GRDB
import HTTPCaching
import HTTPTypes
import NIOCore
public import ResponseStore

extension Upstream {
    /// Returns the result of a read of a resource whose rows an app has, if it is served without a request. To be
    /// called in the transaction that reads the rows, so that both are of one state.
    ///
    /// - Parameter witness: Taken before the transaction began.
    /// - Returns: A result without ``ReadResult/response``; nil if ``read(_:_:authorize:)`` would ask the upstream, has
    ///   no copy, or would throw.
    /// - Throws: Errors of the database.
    public func storedResult(
        of resource: Resource,
        _ cachePolicy: CachePolicy,
        since witness: ReadWitness,
        in db: Database
    ) throws -> ReadResult? {
        let metadata = try store.responses.metadata(
            upstream: configuration.name,
            method: .get,
            url: resource.url,
            credential: resource.credential,
            in: db
        )
        let snapshot = snapshot(of: resource, StoredCopy(of: resource, metadata), since: witness)
        guard case .serveStored(let status, let offline, let stale) = plan(for: resource, cachePolicy, from: snapshot)
        else { return nil }
        return served(resource, status, offline: offline, stale: stale, from: snapshot)
    }

    /// Returns the same within a read of the database, whose transaction it is of.
    ///
    /// - Throws: `StorageError`.
    public func storedResult(of resource: Resource, _ cachePolicy: CachePolicy, since witness: ReadWitness) throws
        -> ReadResult?
    {
        try store.database.read { try storedResult(of: resource, cachePolicy, since: witness, in: $0) }
    }

    /// Returns what ``read(_:_:authorize:)`` would, with its response, if it is served without a request. To be called
    /// in the transaction that reads what else is shown, so that both are of one state.
    ///
    /// - Parameter witness: Taken before the transaction began.
    /// - Returns: Nil if ``read(_:_:authorize:)`` would ask the upstream, has no copy, or would throw.
    /// - Throws: `StorageError`.
    public func storedRead(of resource: Resource, _ cachePolicy: CachePolicy, since witness: ReadWitness) throws
        -> ReadResult?
    {
        let stored = try storedResponse(of: resource)
        let snapshot = snapshot(of: resource, StoredCopy(of: resource, stored?.metadata, stored), since: witness)
        guard case .serveStored(let status, let offline, let stale) = plan(for: resource, cachePolicy, from: snapshot)
        else { return nil }
        return served(resource, status, offline: offline, stale: stale, from: snapshot)
    }

    /// Returns what reads depend on apart from the store, before it is known of which URL.
    public func witness() -> ReadWitness {
        ReadWitness(
            unchanged: ChangeToken(of: client.reachabilityVersion, anyResponseChange),
            unremoved: store.removalSnapshot()
        )
    }

    /// Returns what a read of a URL depends on apart from the store.
    ///
    /// - Parameter before: Taken before the store was read.
    /// - Returns: Nil if another response was stored since, which may be that of the URL.
    public func witness(of url: String, since before: ReadWitness) -> ReadWitness? {
        let witness = witness(of: url)
        guard before.unchanged.holds else { return nil }
        return ReadWitness(unchanged: witness.unchanged, unremoved: before.unremoved)
    }

    /// Notes that a response was stored or validated.
    func noteResponse(at url: String) {
        // This first: a reader that takes the counter of the URL later sees then that this one was bumped.
        anyResponseChange.bump()
        responseChanges[url].bump()
    }

    /// Returns what a read of a URL depends on apart from the store. To be taken before the store is read, so that a
    /// change in between makes it invalid.
    public func witness(of url: String) -> ReadWitness {
        ReadWitness(
            unchanged: ChangeToken(of: client.reachabilityVersion, responseChanges[url]),
            unremoved: store.removalSnapshot()
        )
    }

    /// Returns what a read of a resource depends on.
    func snapshot(of resource: Resource) throws -> ReadSnapshot {
        let witness = witness(of: resource.url)
        let stored = try storedResponse(of: resource)
        return snapshot(of: resource, StoredCopy(of: resource, stored?.metadata, stored), since: witness)
    }

    private func snapshot(of resource: Resource, _ copy: StoredCopy, since witness: ReadWitness) -> ReadSnapshot {
        if let metadata = copy.metadata { store.noteUse(of: metadata) }
        let now = clock.now()
        return ReadSnapshot(
            witness: witness,
            now: now,
            instant: .now(),
            copy: copy,
            isReachable: client.isReachable(resource.url, isPicture: resource.isPicture, at: now),
            pause: client.pause(resource.url, isPicture: resource.isPicture, resource.credential, at: now)
        )
    }

    func plan(for resource: Resource, _ cachePolicy: CachePolicy, from snapshot: ReadSnapshot) -> ReadPlan {
        ReadPlan.plan(
            stored: freshness(of: snapshot.copy.metadata, as: resource, at: snapshot.now),
            cachePolicy: cachePolicy,
            isReachable: snapshot.isReachable,
            paused: snapshot.pause?.seconds(at: snapshot.now),
            patience: configuration.patience
        )
    }

    /// Returns the result of a read that is served with the stored copy; nil if there is none.
    func served(
        _ resource: Resource,
        _ cacheStatus: CacheStatus,
        offline: Bool,
        stale: Bool,
        from snapshot: ReadSnapshot
    ) -> ReadResult? {
        guard var result = snapshot.copy.result(cacheStatus, offline: offline, stale: stale) else { return nil }
        if offline, client.isOwnOrigin(resource.url) { client.probeIfIdle() }
        if cacheStatus.detail == ReadPlan.pauseDetail { result.provenance.pausedUntil = snapshot.pause?.end }
        result.changeToken = changeToken(of: result.provenance, resource, from: snapshot)
        return result
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
        let token = snapshot.witness.unchanged.ending(
            // Within the range of the unit: thirty years count as no end.
            at: rest.map { snapshot.instant + .nanoseconds(Int64(min(max(0, $0), 1e9) * 1e9)) },
            age: RunningAge(
                seconds: age,
                timeToLive: provenance.cacheStatus?.timeToLive ?? 0,
                at: snapshot.instant
            )
        )
        guard let id = snapshot.copy.metadata?.id else { return token }
        return store.changeToken(of: id, since: snapshot.witness.unremoved).map(token.and)
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

    private func freshness(of stored: StoredResponseMetadata?, as resource: Resource, at now: Date) -> ReadPlan.Stored {
        guard let stored else {
            return resource.bundledAt.map { .bundled(age: Int(abs(now.timeIntervalSince($0)))) } ?? .nothing
        }
        // Only the time since reception counts: a screen's freshness is Larder's own promise, not the upstream's.
        let lifetime = resource.freshness?.seconds ?? Double(Int32.max)
        let freshness = Freshness(lifetime: lifetime, age: stored.residentTime(at: now))
        return .copy(timeToLive: freshness.timeToLive, isFresh: freshness.isFresh && !stored.isInvalidated)
    }
}
