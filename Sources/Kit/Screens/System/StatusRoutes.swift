package import Concurrency
package import Foundation
import HTTP
import HTTPTypes
import Logging
package import Storage
package import Upstream

/// `GET /v1/status`: the state of this server and of its upstreams.
package struct StatusRoutes: Sendable {
    /// The part that stays the same while the server runs.
    package struct Server: Sendable {
        let version: String
        let startedAt: Date
        let hasSandbox: Bool
        let hasHarness: Bool
        let node: Node
        let budget: CacheBudget

        /// - Parameters:
        ///   - hasSandbox: Whether its upstreams are simulated, and ``SandboxRoutes`` reach them.
        ///   - hasHarness: Whether ``SandboxRoutes`` reach the controls of the server itself.
        ///   - node: This process among others.
        ///   - budget: Size limit of the cache.
        package init(
            version: String,
            startedAt: Date,
            hasSandbox: Bool,
            hasHarness: Bool,
            node: Node,
            budget: CacheBudget
        ) {
            self.version = version
            self.startedAt = startedAt
            self.hasSandbox = hasSandbox
            self.hasHarness = hasHarness
            self.node = node
            self.budget = budget
        }
    }

    /// One process among several that serve the same clients.
    package struct Node: Encodable, Sendable {
        @Nullable var name: String?
        let apps: [String]

        /// - Parameters:
        ///   - name: Its name; nil for none.
        ///   - apps: Names of the apps that it serves, in the order of the index.
        package init(name: String?, apps: [String]) {
            self.name = name
            self.apps = apps
        }
    }

    struct Row: Encodable, Sendable {
        let name: String
        let title: String
        let reachable: Bool
        let failing: Bool
        @Nullable var since: Date?
        @Nullable var lastOkAt: Date?
        @Nullable var lastError: LastError?
        @Nullable var pausedUntil: Date?
    }

    struct LastError: Encodable, Sendable {
        let reason: String
        let at: Date
    }

    struct Controls: Encodable, Sendable {
        let base: Link

        init(_ controls: SandboxRoutes.Controls) { base = Link(encoded: controls.base) }
    }

    struct Cache: Encodable, Sendable {
        let budgetBytes: Int
        let usedBytes: Int
        let byUpstream: [Used]
    }

    struct Used: Encodable, Sendable {
        let name: String
        let responses: Int
        let usedBytes: Int
    }

    struct Content: Encodable, Sendable {
        let version: String
        let startedAt: Date
        @Nullable var testTime: Date?
        let node: Node
        @Nullable var sandbox: Controls?
        @Nullable var harness: Controls?
        @Nullable var cache: Cache?
        let upstreams: [Row]
    }

    private let server: Server
    private let upstreams: [Upstream]
    private let store: ResponseStore
    private let clock: WallClock

    /// Creates the status of a server and its upstreams, in this order.
    package init(of server: Server, upstreams: [Upstream], store: ResponseStore, clock: WallClock) {
        self.server = server
        self.upstreams = upstreams
        self.store = store
        self.clock = clock
    }

    package var routes: [Route] {
        [
            Route(.get, "/v1/status", "status") { try .local(content(for: $0), "status", $0) }
        ]
    }

    private func content(for request: ScreenRequest) -> Content {
        Content(
            version: server.version,
            startedAt: server.startedAt,
            testTime: clock.testTime,
            node: server.node,
            sandbox: server.hasSandbox ? Controls(.sandbox) : nil,
            harness: server.hasHarness ? Controls(.harness) : nil,
            cache: cache(for: request),
            upstreams: upstreams.map(row)
        )
    }

    /// Returns the state of the cache; nil if the database cannot be read. The rest is most useful then.
    private func cache(for request: ScreenRequest) -> Cache? {
        do {
            let usage = try store.usage()
            let used = usage.upstreams.map {
                Used(name: $0.upstream, responses: $0.responses, usedBytes: $0.bytes)
            }
            return Cache(budgetBytes: server.budget.bytes, usedBytes: usage.bytes, byUpstream: used)
        } catch {
            request.logger.error("the size of the cache cannot be read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func row(_ upstream: Upstream) -> Row {
        let reachability = upstream.reachability
        return Row(
            name: upstream.configuration.name,
            title: Self.heading(upstream.configuration.title),
            reachable: reachability.isReachable,
            failing: reachability.isFailing,
            since: reachability.since,
            lastOkAt: reachability.lastOK,
            lastError: reachability.lastError.map { LastError(reason: $0.reason, at: $0.at) },
            pausedUntil: reachability.pause(at: clock.now())?.end
        )
    }

    /// Returns the title of an upstream as used in a table: "Catalogue" of "the catalogue", which is for
    /// sentences.
    private static func heading(_ title: String) -> String {
        let name = title.hasPrefix("the ") ? title.dropFirst("the ".count) : title[...]
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
