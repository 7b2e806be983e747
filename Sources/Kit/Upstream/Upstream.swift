public import Foundation
import HTTPSemantics
import HTTPTypes
public import Logging
import Metrics
import NIOConcurrencyHelpers
public import Storage

/// One upstream: the only way out to it. Every request is collapsed, bounded, retried, checked, stored and accounted
/// for here.
public final class Upstream: Sendable {
    /// A change that the rest of Larder hears about.
    public enum Change: Sendable, Equatable {
        /// It cannot be reached any more.
        case wentDown(at: Date)
        /// It answers again; what was due has been refreshed.
        case cameBack(at: Date)
    }

    /// What it was told.
    public let configuration: UpstreamConfiguration
    let responses: ResponseStore
    let database: LarderDatabase
    let accessRecorder: AccessRecorder
    let budget: CacheBudget
    let clock: WallClock
    let logger: Logger
    let flights: SingleFlight<FlightKey, FetchOutcome>
    let exchange: RequestExecutor
    let health: UpstreamHealth
    /// Bumped when a response was stored or confirmed, by URL.
    let responseChanges = VersionCounters()
    /// Bumped when a stored response was removed.
    let removals = RemovalCounter()
    private let listeners: NIOLockedValueBox<Listeners>

    private struct Listeners {
        var refreshers: [@Sendable () async -> Void] = []
        var changes: [@Sendable (Change) async -> Void] = []
    }

    /// Connects an upstream to its transport and storage. `jitter` gives numbers in 0..<1; `accessRecorder` is told what
    /// stored responses were used for, and what is larger than `budget` allows is passed on without being stored.
    public init(
        configuration: UpstreamConfiguration,
        transport: any Transport,
        database: LarderDatabase,
        accessRecorder: AccessRecorder = AccessRecorder(),
        budget: CacheBudget = .unlimited,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        retries: RetryPolicy = RetryPolicy(),
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "upstream"] = "\(configuration.name)"
        self.configuration = configuration
        self.database = database
        self.accessRecorder = accessRecorder
        self.budget = budget
        self.clock = clock
        self.logger = logger
        responses = ResponseStore(database)
        database.onRemovalOfResponses { [removals] in removals.removed($0) }
        flights = SingleFlight(clock: clock)
        let name = configuration.name
        exchange = RequestExecutor(
            configuration: configuration,
            transport: transport,
            targets: TargetRules(configuration),
            retries: retries,
            clock: clock,
            jitter: jitter,
            onAttempt: { result in
                let outcome: String
                switch result {
                case .success(let status): outcome = "\(status.code / 100)xx"
                case .failure(.unreachable(let reason)): outcome = reason.rawValue
                case .failure: outcome = "bad-answer"
                }
                Counter(
                    label: "larder_upstream_requests_total",
                    dimensions: [("upstream", name), ("outcome", outcome)]
                ).increment()
            }
        )
        let listeners = NIOLockedValueBox(Listeners())
        self.listeners = listeners
        health = UpstreamHealth(
            configuration: configuration,
            exchange: exchange,
            clock: clock,
            jitter: jitter,
            logger: logger,
            notify: { change in
                let (refreshers, changes) = listeners.withLockedValue { ($0.refreshers, $0.changes) }
                if case .cameBack = change {
                    for refresh in refreshers { await refresh() }
                }
                for listener in changes { await listener(change) }
            }
        )
    }

    /// Whether it can be reached, as far as is known.
    public var reachability: Reachability { health.reachability }

    /// Registers work to be done when the upstream is back, before anybody is told: refreshing what its screens show.
    public func onRecovery(_ refresh: @escaping @Sendable () async -> Void) {
        listeners.withLockedValue { $0.refreshers.append(refresh) }
    }

    /// Registers somebody to be told of changes.
    public func onChange(_ listener: @escaping @Sendable (Change) async -> Void) {
        listeners.withLockedValue { $0.changes.append(listener) }
    }

    /// Ends probing and everything under way.
    public func stop() {
        health.stop()
        flights.cancelAll()
    }

    /// Sends a request. 4xx and 3xx are answers here; 5xx, 408 and 429 are thrown.
    func send(_ request: OutgoingRequest) async throws(UpstreamError) -> IncomingResponse {
        let response = try await exchange.run(request, record: health.record)
        guard !UpstreamError.isFailing(response.status) else {
            throw .failing(
                status: response.status,
                retryAfter: RetryAfter.seconds(response.headerFields, at: clock.now())
            )
        }
        return response
    }
}
