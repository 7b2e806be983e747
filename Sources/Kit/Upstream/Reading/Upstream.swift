package import Concurrency
package import Foundation
import HTTP
import HTTPTypes
package import Logging
import NIOCore
package import Storage
import Synchronization

/// One upstream: reads resources for screens through the store, and sends requests for the others.
package final class Upstream: Sendable {
    package typealias Change = ReachabilityChange

    package let configuration: UpstreamConfiguration
    package let client: UpstreamClient
    package let store: UpstreamStore
    package let clock: WallClock
    package let logger: Logger
    let flights: SingleFlight<FlightKey, FetchOutcome, UpstreamError>
    /// Pictures that were missing lately.
    let missingPictures = RecentFailures<FlightKey, UpstreamError>(lifetime: Resource.missingPictureLifetime)
    /// The queue on which large responses are read.
    let reading: SerialQueue
    /// Bumped when a response was stored or validated, by URL.
    let responseChanges = VersionCounters()
    /// Bumped when any response was stored or validated.
    let anyResponseChange = VersionCounter()
    private let listeners: Listeners

    /// Work that changes of reachability start.
    private final class Listeners: Sendable {
        private struct State {
            var refreshers: [@Sendable () async -> Void] = []
            var listeners: [@Sendable (Change) async -> Void] = []
        }

        private let state = Mutex(State())

        func add(refresher: @escaping @Sendable () async -> Void) {
            state.withLock { $0.refreshers.append(refresher) }
        }

        func add(listener: @escaping @Sendable (Change) async -> Void) {
            state.withLock { $0.listeners.append(listener) }
        }

        func notify(_ change: Change) async {
            let (refreshers, listeners) = state.withLock { ($0.refreshers, $0.listeners) }
            if case .cameBack = change {
                await RequestCause.$current.withValue(.refresh) {
                    for refresh in refreshers { await refresh() }
                }
            }
            for listener in listeners { await listener(change) }
        }
    }

    /// Connects an upstream to its transport and storage.
    ///
    /// - Parameters:
    ///   - accessRecorder: Notes when stored responses were used.
    ///   - budget: Bounds the stored responses; larger ones are returned without being stored.
    ///   - jitter: Returns numbers in 0..<1; nil for a sequence of this upstream's own.
    package init(
        configuration: UpstreamConfiguration,
        transport: any Transport,
        database: LarderDatabase,
        accessRecorder: AccessRecorder = AccessRecorder(),
        budget: CacheBudget = .unlimited,
        clock: WallClock,
        jitter: (@Sendable () -> Double)? = nil,
        retries: RetryPolicy = RetryPolicy(),
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "upstream"] = "\(configuration.name)"
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        store = UpstreamStore(database, accessRecorder, budget, clock)
        flights = SingleFlight(sleep: clock.sleep)
        reading = SerialQueue(label: "upstream.\(configuration.name)")
        let listeners = Listeners()
        self.listeners = listeners
        client = UpstreamClient(
            configuration: configuration,
            transport: transport,
            retries: retries,
            clock: clock,
            jitter: jitter ?? { Randomness.fraction(for: "jitter \(configuration.name)") },
            logger: logger,
            notify: listeners.notify
        )
    }

    /// Whether it can be reached, as far as is known.
    package var reachability: Reachability { client.reachability }

    /// Registers work to do when the upstream responds again, before listeners are notified: refreshing the data that
    /// its screens show.
    package func onRecovery(_ refresh: @escaping @Sendable () async -> Void) {
        listeners.add(refresher: refresh)
    }

    /// Registers a listener that is notified of changes of reachability.
    package func onChange(_ listener: @escaping @Sendable (Change) async -> Void) {
        listeners.add(listener: listener)
    }

    /// Sends a probe in the background, whatever the state of the upstream, and forgets missing pictures.
    package func probe() {
        forgetPictures()
        client.health.probeNow()
    }

    /// Forgets failures and pauses of the upstream and of the hosts that it links to: the next read or write asks it.
    ///
    /// - Returns: Whether the upstream counted as unreachable.
    package func forgetFailures() -> Bool {
        forgetPictures()
        return client.health.forget()
    }

    private func forgetPictures() {
        client.linkedHosts.forget()
        missingPictures.forgetAll()
    }

    /// Whether no probe is under way, and the work after a change of reachability is done: the data of its screens is
    /// refreshed.
    package var isSettled: Bool { client.health.isSettled }

    /// Waits until that is so.
    package func settle() async { await client.health.settle() }

    /// Ends probing and cancels all reads under way.
    package func stop() {
        client.health.stop()
        flights.cancelAll()
    }

    /// Sends a request and checks the status.
    ///
    /// - Returns: The response; 3xx and 4xx included.
    /// - Throws: ``UpstreamError/failing(status:retryAfter:)`` for 5xx, 408 and 429; other ``UpstreamError``s.
    func send(_ request: OutgoingRequest) async throws(UpstreamError) -> IncomingResponse {
        let response = try await client.send(request)
        guard !UpstreamError.isFailing(response.status) else {
            throw .failing(
                status: response.status,
                retryAfter: RetryAfter.seconds(response.headerFields, at: clock.now())
            )
        }
        guard JSONSize.isAcceptable(response.body) else {
            let reason = "more than \(JSONSize.maximumValues) values"
            if !request.isPicture { client.recordUnusable(request.url, reason) }
            throw .badResponse(status: response.status, reason: reason)
        }
        return response
    }
}

extension Upstream {
    /// Sends a request whose response is not stored: a write, or a link that is used once.
    ///
    /// Redirects are followed for GET and HEAD, and credentials leave for no other origin.
    /// - Parameter errors: The form in which the API refuses the request.
    /// - Returns: The response, 3xx included.
    /// - Throws: ``UpstreamError/failing(status:retryAfter:)`` for 5xx, 408 and 429;
    ///   ``UpstreamError/rejected(status:body:)`` for a 4xx in the API's own form,
    ///   ``UpstreamError/badResponse(status:reason:)`` for another one; ``UpstreamError/unreachable(_:)`` and others.
    package func call(_ request: OutgoingRequest, errors: ErrorForm = .none) async throws(UpstreamError)
        -> IncomingResponse
    {
        let response = try await send(request)
        do throws(UpstreamError) {
            try errors.check(response)
        } catch {
            if case .badResponse(_, let reason) = error, !request.isPicture {
                client.recordUnusable(request.url, reason)
            }
            throw error
        }
        return response
    }

    /// Sends a request with bodies in parts, both ways. Nothing is sent twice.
    ///
    /// - Parameters:
    ///   - headTimeout: Longest wait for the head of the response, in place of `total_timeout_ms`: a body that is sent
    ///     takes the time that its client takes.
    ///   - responseTimeout: Longest part of it after the last byte of the body, in place of `total_timeout_ms`.
    /// - Returns: The response, whatever its status: other hosts' statuses say nothing of the upstream.
    package func stream(
        _ request: StreamedRequest,
        headTimeout: Duration? = nil,
        responseTimeout: Duration? = nil
    ) async throws(UpstreamError) -> StreamedResponse {
        try await client.stream(request, .streaming(headTimeout: headTimeout, responseTimeout: responseTimeout))
    }

    /// Returns the stored copy of a resource that cannot be requested for a reason of ours, such as a credential that
    /// cannot be renewed. It is the same as while the upstream is unreachable.
    ///
    /// - Returns: Nil if nothing is stored.
    package func unrequestedResult(of resource: Resource) throws -> ReadResult? {
        let stored = try storedResponse(of: resource)
        guard let validatedAt = stored?.head.responseTime ?? resource.bundledAt else { return nil }
        if let stored { store.noteUse(of: stored.metadata) }
        let provenance = Provenance(
            source: .upstream,
            offline: true,
            validatedAt: validatedAt,
            contentFetchedAt: stored?.contentTime,
            cacheStatus: CacheStatus(.hit, detail: "offline")
        )
        return ReadResult(response: stored, provenance: provenance)
    }
}

/// The store of an upstream's responses: their place, budget, last use and removal.
package struct UpstreamStore: Sendable {
    package let database: LarderDatabase
    package let responses: ResponseStore
    package let budget: CacheBudget
    private let accessRecorder: AccessRecorder
    private let removals = RemovalCounter()
    private let clock: WallClock

    init(_ database: LarderDatabase, _ accessRecorder: AccessRecorder, _ budget: CacheBudget, _ clock: WallClock) {
        self.database = database
        self.accessRecorder = accessRecorder
        self.budget = budget
        self.clock = clock
        responses = ResponseStore(database)
        database.onRemovalOfResponses { [removals] in removals.removed($0) }
    }

    /// Notes the use of a stored response, so that it is not the next to be evicted.
    package func noteUse(of stored: StoredResponseMetadata) {
        accessRecorder.note(stored, at: clock.now())
    }

    /// Returns a token that no later removal passes unnoticed. To be taken before the store is read.
    package func removalSnapshot() -> ChangeToken { removals.snapshot() }

    /// Returns a token that holds while a response is stored, and notes its further uses.
    ///
    /// - Parameter before: The ``removalSnapshot()`` taken before the response was read.
    /// - Returns: Nil if a response was removed since, which may have been this one.
    package func changeToken(of id: CachedResponse.ID, since before: ChangeToken) -> ChangeToken? {
        let uses = AccessReporter { [accessRecorder, clock] in accessRecorder.note(id, at: clock.now()) }
        return removals.changeToken(of: id, since: before)?.noting(uses)
    }
}

extension Upstream {
    /// Returns the result of a read that is served from rows which an app keeps without an end, whether or not their
    /// response is still stored. The upstream is not asked, except for a probe if it is marked down.
    ///
    /// The same as a `read(_:_:)` of a resource without an end of freshness whose copy was stored at `fetchedAt`.
    /// - Parameter fetchedAt: When the rows were fetched.
    /// - Returns: A result without `response`.
    package func result(ofRowsFetchedAt fetchedAt: Date) -> ReadResult {
        let seen = ChangeToken(of: client.reachabilityVersion)
        let (now, instant) = (clock.now(), NIODeadline.now())
        let age = abs(now.timeIntervalSince(fetchedAt))
        let timeToLive = Int(Double(Int32.max) - age)
        let isReachable = reachability.isReachable
        if !isReachable { client.probeIfIdle() }
        // The next read may start a probe.
        let end = isReachable ? nil : instant + .nanoseconds(Int64(UpstreamHealth.shortestProbeInterval * 1e9))
        let cacheStatus = CacheStatus(.hit, timeToLive: timeToLive, detail: isReachable ? nil : "offline")
        return ReadResult(
            response: nil,
            provenance: Provenance(
                source: .upstream,
                offline: !isReachable,
                validatedAt: fetchedAt,
                cacheStatus: cacheStatus
            ),
            changeToken: seen.ending(at: end, age: RunningAge(seconds: age, timeToLive: timeToLive, at: instant))
        )
    }
}
