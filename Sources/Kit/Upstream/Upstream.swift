public import Foundation
import HTTPCaching
import HTTPTypes
public import Logging
import Metrics
import NIOConcurrencyHelpers
public import Storage

/// One upstream: the only way out to it. Every request is collapsed, bounded, retried, checked, stored and accounted for here.
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
    let clock: WallClock
    let logger: Logger
    let flights: SingleFlight<FlightKey, Landing>
    let exchange: Exchange
    private let healthBox = NIOLockedValueBox<UpstreamHealth?>(nil)
    private let listeners = NIOLockedValueBox(Listeners())

    private struct Listeners {
        var refreshers: [@Sendable () async -> Void] = []
        var changes: [@Sendable (Change) async -> Void] = []
    }

    /// Connects an upstream to its transport and storage. `jitter` gives numbers in 0..<1.
    public init(
        configuration: UpstreamConfiguration,
        transport: any Transport,
        database: LarderDatabase,
        clock: WallClock,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        retries: RetryPolicy = RetryPolicy(),
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "upstream"] = "\(configuration.name)"
        self.configuration = configuration
        self.database = database
        self.clock = clock
        self.logger = logger
        responses = ResponseStore(database)
        flights = SingleFlight(clock: clock)
        let name = configuration.name
        exchange = Exchange(
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
                Counter(label: "larder_upstream_requests_total", dimensions: [("upstream", name), ("outcome", outcome)]).increment()
            }
        )
        let health = UpstreamHealth(
            configuration: configuration,
            clock: clock,
            jitter: jitter,
            logger: logger,
            probe: { [weak self] in await self?.probe() },
            notify: { [weak self] in await self?.announce($0) }
        )
        healthBox.withLockedValue { $0 = health }
    }

    var health: UpstreamHealth? { healthBox.withLockedValue { $0 } }

    /// Whether it can be reached, as far as is known.
    public var reachability: Reachability {
        health?.reachability ?? Reachability(probeInterval: configuration.probeInterval)
    }

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
        health?.stop()
        flights.cancelAll()
    }

    /// Asks for the probe path; any answer at all brings the upstream back, and only that is the purpose.
    private func probe() async {
        do throws(UpstreamError) {
            _ = try await send(OutgoingRequest(method: .get, url: configuration.url(of: configuration.probePath)))
        } catch {
            logger.debug("probe failed", metadata: ["error": "\(error)"])
        }
    }

    private func announce(_ change: UpstreamHealth.Change) async {
        let (refreshers, changes) = listeners.withLockedValue { ($0.refreshers, $0.changes) }
        switch change {
        case .wentDown(let at):
            for listener in changes { await listener(.wentDown(at: at)) }
        case .cameBack(let at):
            // Not awaited by the request that found out: refreshing may ask for the very thing it is about to answer.
            Task {
                for refresh in refreshers { await refresh() }
                for listener in changes { await listener(.cameBack(at: at)) }
            }
        }
    }

    /// Sends a request and tells the health what came of it. 4xx and 3xx are answers here; 5xx, 408 and 429 are thrown.
    func send(_ request: OutgoingRequest) async throws(UpstreamError) -> IncomingAnswer {
        let answer: IncomingAnswer
        do throws(UpstreamError) {
            answer = try await exchange.run(request)
        } catch {
            switch error {
            case .unreachable(let reason) where isOwnOrigin(request.url): await health?.unreachable(reason)
            case .badAnswer(_, let reason): await health?.failed(reason, retryAfter: nil)
            default: break
            }
            throw error
        }
        let code = answer.status.code
        if code >= 500 || code == 408 || code == 429 {
            let retryAfter = RetryAfter.seconds(answer.headerFields)
            await health?.failed("status \(code)", retryAfter: code == 429 || code == 503 ? retryAfter : nil)
            throw .failing(status: answer.status, retryAfter: retryAfter)
        }
        if isOwnOrigin(request.url) { await health?.answered() }
        return answer
    }

    /// A link to another host says nothing about the upstream itself.
    private func isOwnOrigin(_ url: String) -> Bool { exchange.targets.target(of: url) == .ownOrigin }
}
