import HTTPTypes
import Logging

/// `/health/live`, `/health/ready` and `/metrics`: for whoever runs the server.
public struct HealthRoutes: Sendable {
    /// One thing that readiness depends on.
    public struct Check: Sendable {
        /// Its name in the response.
        public let name: String
        /// Throws where it does not hold.
        public let run: @Sendable () throws -> Void

        /// Creates a check.
        public init(_ name: String, run: @escaping @Sendable () throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Something that the server can do without, and what it takes.
    public struct Ability: Encodable, Sendable, Equatable {
        /// Its name in the response.
        public let name: String
        /// Whether it works.
        public let ok: Bool
        /// What to install; nil where it works.
        public let install: String?

        /// Creates the line of an ability.
        public init(name: String, ok: Bool, install: String?) {
            self.name = name
            self.ok = ok
            self.install = install
        }

        private enum Key: String, CodingKey {
            case name, ok, install
        }

        /// Writes all members, null too.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(name, forKey: .name)
            try container.encode(ok, forKey: .ok)
            try container.encode(install, forKey: .install)
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
    private let abilities: @Sendable () async -> [Ability]
    private let exposition: @Sendable () -> String

    /// Routes over checks, abilities that readiness tells of and does not depend on, and the text of the metrics.
    public init(
        checks: [Check],
        abilities: @escaping @Sendable () async -> [Ability] = { [] },
        exposition: @escaping @Sendable () -> String
    ) {
        self.checks = checks
        self.abilities = abilities
        self.exposition = exposition
    }

    /// The table.
    public var routes: [Route] {
        [
            Route(.get, "/health/live", "health.live") { _ in
                try Self.response(Health(status: "live", checks: []), status: .ok)
            },
            Route(.get, "/health/ready", "health.ready", ready),
            Route(.get, "/metrics", "metrics") { _ in
                ScreenResponse(body: .bytes(.init(exposition().utf8), type: MediaType.metrics), hasValidator: false)
            },
        ]
    }

    /// 200 if every check holds, else 503; which one does not is in the response, why is in the log.
    @Sendable private func ready(_ request: ScreenRequest) async throws -> ScreenResponse {
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
