import Concurrency
package import HTTPTypes
import Synchronization

/// Reads pictures that are no ``Resource``, because their addresses have to be requested from an API. As with those of
/// ``Upstream``, waits are short, and missing pictures and the state of their host are remembered.
package final class PictureReads<Picture: Sendable>: Sendable {
    private let upstream: Upstream
    private let flights: SingleFlight<String, Picture, any Error>
    private let missing = RecentFailures<String, UpstreamError>(lifetime: Resource.missingPictureLifetime)
    /// The address of the last download, whose host is expected to be that of the next.
    private let lastAddress = Mutex<String?>(nil)

    /// Creates reads of one kind of pictures.
    package init(of upstream: Upstream) {
        self.upstream = upstream
        flights = SingleFlight(sleep: upstream.clock.sleep)
    }

    /// Reads a picture, together with all that read the same at the same time.
    ///
    /// - Parameters:
    ///   - name: Identifies the picture, its version and who may see it.
    ///   - isForced: Whether to request it whatever is known.
    ///   - work: Requests the address, downloads and stores the picture. It continues if no reader waits any more.
    /// - Throws: ``UpstreamError``, which is ``UpstreamError/known(_:)`` if nothing was requested; `CancellationError`;
    ///   errors of `work`.
    package func read(
        _ name: String,
        isForced: Bool = false,
        _ work: @escaping @Sendable () async throws -> Picture
    ) async throws -> Picture {
        if !isForced, let failure = knownFailure(of: name) { throw UpstreamError.known(failure) }
        let (outcome, _) = await flights.run(name, patience: Resource.pictureWait) { [missing, upstream] in
            do {
                return try await work()
            } catch let error as UpstreamError {
                if error.saysMissing { missing.record(error, of: name, at: upstream.clock.now()) }
                throw error.cause
            }
        }
        guard case .completed(let result) = outcome else {
            try Task.checkCancellation()
            throw UpstreamError.unreachable(.totalTimeout)
        }
        return try result.get()
    }

    /// Downloads a picture from the address that the API has returned. Must be called by the work of a read.
    package func download(_ url: String, _ fields: HTTPFields, isForced: Bool) async throws(UpstreamError)
        -> IncomingResponse
    {
        lastAddress.withLock { $0 = url }
        let (target, now) = (upstream.client.targets.target(of: url), upstream.clock.now())
        guard upstream.client.beginAttempt(url, at: target, isPicture: true, now) || isForced else {
            throw .known(.unreachable(.network))
        }
        return try await upstream.call(OutgoingRequest(url: url, headerFields: fields, isPicture: true))
    }

    private func knownFailure(of name: String) -> UpstreamError? {
        let now = upstream.clock.now()
        if let failure = missing.failure(of: name, at: now) { return failure }
        guard upstream.reachability.isReachable else {
            upstream.client.probeIfIdle()
            return .unreachable(.network)
        }
        guard let address = lastAddress.withLock({ $0 }) else { return nil }
        let target = upstream.client.targets.target(of: address)
        return upstream.client.isReachable(address, at: target, isPicture: true, now) ? nil : .unreachable(.network)
    }
}
