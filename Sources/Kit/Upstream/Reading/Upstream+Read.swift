import Concurrency
import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import ResponseStore

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
        var (reason, patience) = (CacheStatus.Forward.uriMiss, Duration?.some(configuration.patience))
        switch plan(for: resource, cachePolicy, from: snapshot) {
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
        if let failure = knownFailure(of: resource, cachePolicy, at: snapshot.now) {
            return try result(after: .known(failure), snapshot.copy, because: reason)
        }
        var authorized = resource
        try await authorize(&authorized)
        let wait = resource.waitsToTimeout ? nil : patience
        return try await ask(
            for: authorized,
            because: reason,
            patience: resource.isPicture ? min(wait ?? Resource.pictureWait, Resource.pictureWait) : wait,
            copy: snapshot.copy
        )
    }

    /// Returns how a request for a resource would end; nil if it is to be sent.
    private func knownFailure(of resource: Resource, _ cachePolicy: CachePolicy, at now: Date) -> UpstreamError? {
        if case .forbidden(let target) = client.targets.target(of: resource.url) { return .forbiddenTarget(target) }
        guard cachePolicy == .useCache else { return nil }
        if resource.isPicture, let failure = missingPictures.failure(of: resource.flightKey, at: now) { return failure }
        guard !client.beginAttempt(resource.url, isPicture: resource.isPicture, at: now) else { return nil }
        if client.isOwnOrigin(resource.url) { client.probeIfIdle() }
        return .unreachable(.network)
    }

    /// Asks the upstream, together with all that ask for the same at the same time.
    private func ask(
        for resource: Resource,
        because reason: CacheStatus.Forward,
        patience: Duration?,
        copy: StoredCopy
    ) async throws -> ReadResult {
        let waits = RequestCause.waits
        let (wait, collapsed) = await flights.run(
            resource.flightKey,
            patience: patience,
            joined: { waits?(true) },
            work: { () async throws(UpstreamError) -> FetchOutcome in
                try await self.fetch(resource, asOf: copy.response)
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
