import Concurrency
import HTTPCaching
import HTTPTypes
import Logging
public import ResponseStore
public import Upstream

/// An upstream's own API behind an HTTP cache (RFC 9111, 5861, 9211). `HTTPCaching` and `ProxyMachine` decide;
/// `ProxyExchange` asks, stores, and passes on.
///
/// Its responses are stored under a name of their own: what a screen made of a URL is never used for a raw request.
public final class Mount: Sendable {
    /// What is mounted.
    public let upstream: Upstream
    let rules: CachingRules
    let hasher: CredentialHasher
    let store: MountStore
    let flights = MountFlights()
    let background = BackgroundTasks()

    /// Mounts an upstream.
    ///
    /// - Parameter hasher: Makes credentials into keys of the store.
    public init(_ upstream: Upstream, hasher: CredentialHasher) {
        self.upstream = upstream
        self.hasher = hasher
        let options = upstream.configuration.mount
        rules = CachingRules(
            cacheName: "larder",
            shared: options.shared,
            heuristics: options.heuristics ? .tenPercent : .off,
            lastGood: options.lastGood
        )
        store = MountStore(of: upstream)
    }

    /// Name under which the store keeps its responses.
    public var storeName: String { store.name }

    /// Cancels the validations in the background.
    public func stop() { background.stop() }

    /// Responds to a request from the store or the upstream.
    ///
    /// - Throws: `UpstreamError` if there is no response; `CancellationError`; `StorageError`.
    public func respond(to request: MountRequest) async throws -> ProxyResponse {
        let request = try ProxiedRequest(request, to: upstream.configuration, hasher: hasher)
        var exchange = ProxyExchange(self, request, ProxyMachine(mayCollapse: request.mayCollapse))
        return try await exchange.run()
    }

    /// Validates a stored response while the client has it already (RFC 5861 §3). Does nothing if the same request is
    /// under way.
    func revalidate(_ request: ProxiedRequest, _ validation: Validation, among candidates: [CachedResponse]) {
        guard let flight = flights.leadIfFree(request.flightKey) else { return }
        background.start { [self] in
            // Stored parts are no response to a request without a range.
            let request = validation.stored.parts == nil ? request.withoutRange : request
            var exchange = ProxyExchange(self, request.unattended, ProxyMachine(validating: validation))
            exchange.candidates = candidates
            exchange.flight = flight
            do {
                let response = try await exchange.run()
                if case .stream(let parts, _) = response.body { for try await _ in parts {} }
            } catch {
                upstream.logger.debug("a validation in the background failed", metadata: ["error": "\(error)"])
            }
        }
    }
}
