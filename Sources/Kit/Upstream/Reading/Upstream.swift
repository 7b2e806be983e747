import Concurrency
public import Database
import Foundation
public import Freshness
import HTTPSemantics
import HTTPTypes
public import Logging
public import ResponseStore
import Synchronization

/// One upstream: reads resources for screens through the store, and sends what is not stored.
public final class Upstream: Sendable {
    /// A change of reachability.
    public typealias Change = ReachabilityChange

    /// Its settings.
    public let configuration: UpstreamConfiguration
    /// Sends its requests.
    package let client: UpstreamClient
    /// What is stored of its responses.
    package let store: UpstreamStore
    package let clock: WallClock
    package let logger: Logger
    let flights: SingleFlight<FlightKey, FetchOutcome, UpstreamError>
    /// Pictures that were missing lately.
    let missingPictures = RecentFailures<FlightKey, UpstreamError>(lifetime: Resource.missingPictureLifetime)
    /// The folder in which large responses are read.
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
    ///   - budget: Bounds what is stored; larger responses are returned without being stored.
    ///   - jitter: Returns numbers in 0..<1; nil for a sequence of this upstream's own.
    public init(
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
    public var reachability: Reachability { client.reachability }

    /// Registers work to do when the upstream responds again, before listeners are notified: refreshing what its
    /// screens show.
    public func onRecovery(_ refresh: @escaping @Sendable () async -> Void) {
        listeners.add(refresher: refresh)
    }

    /// Registers a listener that is notified of changes of reachability.
    public func onChange(_ listener: @escaping @Sendable (Change) async -> Void) {
        listeners.add(listener: listener)
    }

    /// Sends a probe in the background, whatever is known of the upstream, and forgets what is known of its pictures.
    public func probe() {
        forgetPictures()
        client.health.probeNow()
    }

    /// Forgets failures and pauses of the upstream and of the hosts that it links to: the next read or write asks it.
    ///
    /// - Returns: Whether the upstream counted as unreachable.
    public func forgetFailures() -> Bool {
        forgetPictures()
        return client.health.forget()
    }

    private func forgetPictures() {
        client.linkedHosts.forget()
        missingPictures.forgetAll()
    }

    /// Whether no probe is under way, and what follows a change of reachability is done: what its screens show is
    /// refreshed.
    public var isSettled: Bool { client.health.isSettled }

    /// Waits until that is so.
    public func settle() async { await client.health.settle() }

    /// Ends probing and cancels all reads under way.
    public func stop() {
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
