import HTTP
import HTTPTypes
import Logging
package import Server

/// `/health/live`, `/health/ready` and `/metrics`, for operators.
package struct HealthRoutes: Sendable {
    /// A condition of readiness.
    package struct Check: Sendable {
        /// Its name in the response.
        package let name: String
        /// Throws if the condition does not hold.
        package let run: @Sendable () throws -> Void

        package init(_ name: String, run: @escaping @Sendable () throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// A feature that the server can work without, and its state.
    package struct Ability: Encodable, Sendable, Equatable {
        /// Its name in the response.
        package let name: String
        /// Whether it works; nil while it is not known.
        @Nullable package var ok: Bool?
        /// The package to install; nil if it works.
        @Nullable package var install: String?

        package init(name: String, ok: Bool?, install: String?) {
            self.name = name
            self.ok = ok
            self.install = install
        }
    }

    struct Health: Encodable {
        let status: String
        let checks: [Outcome]
        var abilities: [Ability]?
    }

    struct Outcome: Encodable {
        let name: String
        let ok: Bool
    }

    private let checks: [Check]
    private let store: @Sendable () async throws -> Void
    private let abilities: @Sendable () async -> [Ability]
    private let exposition: @Sendable (MetricFormat) async -> String

    /// The paths that load balancers probe.
    static let probes: Set<String> = ["/health/live", "/health/ready"]

    /// - Parameters:
    ///   - checks: conditions of readiness
    ///   - store: throws while this process does not reach the store that several share, for proxies that ask for it
    ///   - abilities: features that are reported by readiness and do not affect it
    ///   - exposition: returns the text of the metrics
    package init(
        checks: [Check],
        store: @escaping @Sendable () async throws -> Void = {},
        abilities: @escaping @Sendable () async -> [Ability] = { [] },
        exposition: @escaping @Sendable (MetricFormat) async -> String
    ) {
        self.checks = checks
        self.store = store
        self.abilities = abilities
        self.exposition = exposition
    }

    package var routes: [Route] {
        [
            Route(.get, "/health/live", "health.live") { _ in
                try Self.response(Health(status: "live", checks: []), status: .ok)
            },
            Route(.get, "/health/ready", "health.ready", ready).query("store"),
            Route(.get, "/metrics", "metrics", metrics),
        ]
    }

    /// Responds with OpenMetrics if the client prefers it, else with the text format of Prometheus.
    @Sendable private func metrics(_ request: ScreenRequest) async throws -> ScreenResponse {
        let accepted = AcceptedMediaTypes(request.headerFields)
        let openMetrics = accepted.explicitWeight(of: "application/openmetrics-text") ?? 0
        let isOpen = openMetrics > 0 && openMetrics >= accepted.explicitWeight(of: "text/plain") ?? 0
        let text = await exposition(isOpen ? .openMetrics : .prometheus)
        return ScreenResponse(
            headerFields: [.vary: "Accept"],
            body: .bytes(.init(text.utf8), type: isOpen ? MediaType.openMetrics : MediaType.metrics),
            hasValidator: false
        )
    }

    /// Responds 200 if every check holds, else 503. The response names the failed check, the log its cause.
    ///
    /// The store is asked only if the request says so: a process that does not reach it still shows users' data of an
    /// earlier time, and a proxy must not give up all processes while none reaches it.
    @Sendable private func ready(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asksForStore = try request.query.flag("store")
        let outcomes = checks.map { check in
            do {
                try check.run()
                return Outcome(name: check.name, ok: true)
            } catch {
                request.logger.error("not ready", metadata: ["check": "\(check.name)", "error": "\(error)"])
                return Outcome(name: check.name, ok: false)
            }
        }
        let isReady = outcomes.allSatisfy(\.ok)
        if isReady, asksForStore { try await store() }
        let found = await abilities()
        let health = Health(
            status: isReady ? "ready" : "not-ready",
            checks: outcomes,
            abilities: found.isEmpty ? nil : found
        )
        return try Self.response(health, status: isReady ? .ok : .serviceUnavailable)
    }

    private static func response(_ health: Health, status: HTTPResponse.Status) throws -> ScreenResponse {
        ScreenResponse(
            status: status,
            body: .bytes(try WireFormat.encode(health), type: MediaType.json),
            hasValidator: false
        )
    }
}
