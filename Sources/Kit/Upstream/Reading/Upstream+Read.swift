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
        switch plan(for: resource, cachePolicy, from: snapshot) {
        case .notStored:
            throw UpstreamError.notStored
        case .leaveAlone(let seconds):
            throw UpstreamError.failing(status: snapshot.pause?.status ?? .tooManyRequests, retryAfter: seconds)
        case .serveStored(let cacheStatus, let offline, let stale):
            guard let result = served(resource, cacheStatus, offline: offline, stale: stale, from: snapshot) else {
                throw UpstreamError.notStored
            }
            return result
        case .ask(let reason, let patience):
            var authorized = resource
            try await authorize(&authorized)
            let wait = resource.waitsToTimeout ? nil : patience
            return try await ask(for: authorized, because: reason, patience: wait, copy: snapshot.copy)
        }
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
