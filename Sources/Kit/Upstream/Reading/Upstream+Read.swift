import Concurrency
import Foundation
package import GRDB
import HTTP
import HTTPTypes
import NIOCore
package import Storage

extension Upstream {
    /// Reads a resource for a screen: from the network within the patience, else from the store; the provenance says
    /// which (docs/contract.md, "Freshness").
    ///
    /// - Parameters:
    ///   - planned: The same read, as far as it was planned in the transaction of the rows: if nothing was stored then,
    ///     nothing is looked up again.
    ///   - authorize: Adds the credentials of the request. Called only if the upstream is asked, so that no secret is
    ///     opened for a stored response.
    /// - Throws: Errors of `authorize`; ``UpstreamError`` if there is nothing to respond with, or for a refusal that
    ///   a stored copy must not hide; `StorageError`; `CancellationError`.
    package func read(
        _ resource: Resource,
        _ cachePolicy: CachePolicy = .useCache,
        planned: PlannedRead? = nil,
        authorize: (inout Resource) async throws -> Void = { _ in }
    ) async throws -> ReadResult {
        let planned =
            if let planned, planned.isCurrent { planned } else {
                plan(of: resource, cachePolicy, from: try snapshot(of: resource))
            }
        let snapshot = planned.snapshot
        var (reason, patience) = (CacheStatus.Forward.uriMiss, Duration?.some(configuration.patience))
        switch planned.plan {
        case .notStored:
            throw UpstreamError.notStored
        case .leaveAlone(let seconds):
            throw UpstreamError.known(
                .failing(status: snapshot.pause?.status ?? .tooManyRequests, retryAfter: seconds)
            )
        case .serveStored(let cacheStatus, let offline, let stale):
            guard let result = served(resource, cacheStatus, offline: offline, stale: stale, from: snapshot) else {
                throw UpstreamError.notStored
            }
            return result
        case .unreachable: break
        case .ask(let because, let wait): (reason, patience) = (because, wait)
        }
        if let failure = knownFailure(of: resource, cachePolicy, from: snapshot) {
            return try result(after: .known(failure), snapshot.copy, because: reason)
        }
        var authorized = resource
        try await authorize(&authorized)
        let wait = resource.waitsToTimeout ? nil : patience
        return try await ask(
            for: authorized,
            because: reason,
            patience: resource.isPicture ? min(wait ?? Resource.pictureWait, Resource.pictureWait) : wait,
            from: snapshot
        )
    }

    /// Returns how a request for a resource would end; nil if it is to be sent.
    private func knownFailure(of resource: Resource, _ cachePolicy: CachePolicy, from snapshot: ReadSnapshot)
        -> UpstreamError?
    {
        let (target, now) = (snapshot.target, snapshot.now)
        if case .forbidden(let host) = target { return .forbiddenTarget(host) }
        guard cachePolicy == .useCache else { return nil }
        if resource.isPicture, let failure = missingPictures.failure(of: resource.flightKey, at: now) { return failure }
        guard !client.beginAttempt(resource.url, at: target, isPicture: resource.isPicture, now) else { return nil }
        if target == .ownOrigin { client.probeIfIdle() }
        return .unreachable(.network)
    }

    /// Asks the upstream, together with all that ask for the same at the same time.
    private func ask(
        for resource: Resource,
        because reason: CacheStatus.Forward,
        patience: Duration?,
        from snapshot: ReadSnapshot
    ) async throws -> ReadResult {
        let copy = snapshot.copy
        let waits = RequestCause.waits
        let (wait, collapsed) = await flights.run(
            resource.flightKey,
            patience: patience,
            joined: { waits?(true) },
            work: { () async throws(UpstreamError) -> FetchOutcome in
                try await self.fetch(resource, asOf: snapshot)
            }
        )
        waits?(false)
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
            return try result(after: error, copy, because: reason)
        }
    }

    /// Returns the stored copy in place of a response.
    ///
    /// - Throws: The failure if there is no copy, or if no copy may hide it.
    private func result(after failure: UpstreamError, _ copy: StoredCopy, because reason: CacheStatus.Forward)
        throws(UpstreamError) -> ReadResult
    {
        guard let validatedAt = copy.validatedAt,
            let provenance = Provenance.serveStale(
                for: failure,
                source: copy.source,
                storedAt: validatedAt,
                contentFetchedAt: copy.metadata?.contentTime,
                because: reason
            )
        else { throw failure }
        return ReadResult(response: copy.response, provenance: provenance)
    }
}

extension FetchOutcome {
    /// The result of a read that requested the upstream, or joined a request of another read.
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

extension Upstream {
    /// Plans the read of a resource whose rows an app has. To be called in the transaction that reads the rows, so that
    /// both are of one state.
    ///
    /// - Parameter readToken: Taken before the transaction began.
    package func plannedRead(
        of resource: Resource,
        _ cachePolicy: CachePolicy,
        since readToken: ReadToken,
        in db: Database
    ) throws -> PlannedRead {
        let metadata = try store.responses.metadata(
            upstream: configuration.name,
            method: .get,
            url: resource.url,
            credential: resource.credential,
            in: db
        )
        let snapshot = snapshot(of: resource, StoredCopy(of: resource, metadata), since: readToken)
        return plan(of: resource, cachePolicy, from: snapshot)
    }

    /// Returns the result of a planned read, if it is served without a request.
    ///
    /// - Returns: A result without ``ReadResult/response``; nil if the read would ask the upstream, has no copy, or
    ///   would throw.
    package func storedResult(of planned: PlannedRead) -> ReadResult? {
        guard case .serveStored(let status, let offline, let stale) = planned.plan else { return nil }
        return served(planned.resource, status, offline: offline, stale: stale, from: planned.snapshot)
    }

    /// Returns the result of a read of a resource whose rows an app has, if it is served without a request. To be
    /// called in the transaction that reads the rows, so that both are of one state.
    ///
    /// - Parameter readToken: Taken before the transaction began.
    /// - Returns: As ``storedResult(of:)``.
    package func storedResult(
        of resource: Resource,
        _ cachePolicy: CachePolicy,
        since readToken: ReadToken,
        in db: Database
    ) throws -> ReadResult? {
        storedResult(of: try plannedRead(of: resource, cachePolicy, since: readToken, in: db))
    }

    /// Returns the same within a read of the database, whose transaction it is of.
    package func storedResult(of resource: Resource, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws
        -> ReadResult?
    {
        try store.database.read { try storedResult(of: resource, cachePolicy, since: readToken, in: $0) }
    }

    /// Returns the result of ``read(_:_:planned:authorize:)``, with its response, if it is served without a request. To
    /// be called in the transaction that reads the other rows of the screen, so that both are of one state.
    ///
    /// - Parameter readToken: Taken before the transaction began.
    /// - Returns: Nil if ``read(_:_:planned:authorize:)`` would ask the upstream, has no copy, or would throw.
    package func storedRead(of resource: Resource, _ cachePolicy: CachePolicy, since readToken: ReadToken) throws
        -> ReadResult?
    {
        let stored = try storedResponse(of: resource)
        let snapshot = snapshot(of: resource, StoredCopy(of: resource, stored?.metadata, stored), since: readToken)
        return storedResult(of: plan(of: resource, cachePolicy, from: snapshot))
    }

    /// Returns the state that reads of any URL depend on, apart from the store.
    package func readToken() -> ReadToken {
        ReadToken(
            unchanged: ChangeToken(of: client.reachabilityVersion, anyResponseChange),
            unremoved: store.removalSnapshot()
        )
    }

    /// Returns the state that a read of a URL depends on, apart from the store.
    ///
    /// - Parameter before: Taken before the store was read.
    /// - Returns: Nil if another response was stored since, which may be that of the URL.
    package func readToken(of url: String, since before: ReadToken) -> ReadToken? {
        let readToken = readToken(of: url)
        guard before.unchanged.holds else { return nil }
        return ReadToken(unchanged: readToken.unchanged, unremoved: before.unremoved)
    }

    /// Notes that a response was stored or validated.
    func noteResponse(at url: String) {
        // This first: a reader that takes the counter of the URL later sees then that this one was bumped.
        anyResponseChange.bump()
        responseChanges[url].bump()
    }

    /// Returns the state that a read of a URL depends on, apart from the store. To be taken before the store is read,
    /// so that a change in between makes it invalid.
    package func readToken(of url: String) -> ReadToken {
        ReadToken(
            unchanged: ChangeToken(of: client.reachabilityVersion, responseChanges[url]),
            unremoved: store.removalSnapshot()
        )
    }

    /// Returns the state that a read of a resource depends on.
    func snapshot(of resource: Resource) throws -> ReadSnapshot {
        let readToken = readToken(of: resource.url)
        let stored = try storedResponse(of: resource)
        return snapshot(of: resource, StoredCopy(of: resource, stored?.metadata, stored), since: readToken)
    }

    private func snapshot(of resource: Resource, _ copy: StoredCopy, since readToken: ReadToken) -> ReadSnapshot {
        if let metadata = copy.metadata { store.noteUse(of: metadata) }
        let now = clock.now()
        let target = client.targets.target(of: resource.url)
        return ReadSnapshot(
            readToken: readToken,
            now: now,
            instant: .now(),
            copy: copy,
            target: target,
            isReachable: client.isReachable(resource.url, at: target, isPicture: resource.isPicture, now),
            pause: client.pause(resource.url, at: target, isPicture: resource.isPicture, resource.credential, now)
        )
    }

    private func plan(of resource: Resource, _ cachePolicy: CachePolicy, from snapshot: ReadSnapshot) -> PlannedRead {
        let plan = ReadPlan.plan(
            stored: freshness(of: snapshot.copy.metadata, as: resource, at: snapshot.now),
            cachePolicy: cachePolicy,
            isReachable: snapshot.isReachable,
            paused: snapshot.pause?.seconds(at: snapshot.now),
            patience: configuration.patience
        )
        return PlannedRead(resource: resource, snapshot: snapshot, plan: plan)
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
        if offline, snapshot.target == .ownOrigin { client.probeIfIdle() }
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
        let token = snapshot.readToken.unchanged.ending(
            // Within the range of the unit: thirty years count as no end.
            at: rest.map { snapshot.instant + .nanoseconds(Int64(min(max(0, $0), 1e9) * 1e9)) },
            age: RunningAge(
                seconds: age,
                timeToLive: provenance.cacheStatus?.timeToLive ?? 0,
                at: snapshot.instant
            )
        )
        guard let id = snapshot.copy.metadata?.id else { return token }
        return store.changeToken(of: id, since: snapshot.readToken.unremoved).map(token.and)
    }

    /// Returns the stored copy of a resource, whatever its age.
    package func storedResponse(of resource: Resource) throws -> CachedResponse? {
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
