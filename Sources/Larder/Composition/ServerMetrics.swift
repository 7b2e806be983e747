import Cluster
import Concurrency
import Foundation
import JSONValues
import Logging
import Media
import NIOCore
import NIOPosix
import Screens
import Server
import Storage
import Upstream

/// Everything that `/metrics` may contain. `# HELP` and docs/metrics.md are generated from it.
enum MetricCatalogue {
    static let families: [MetricFamily] = http + cache + upstreams + outbox + work + store + ProcessStatistics.families

    private static let http = [
        MetricFamily(
            "larder_http_requests_total",
            .counter,
            labels: ["method", "route", "status"],
            "Requests with their route pattern and the status of the response"
        ),
        MetricFamily(
            "larder_http_request_duration_seconds",
            .histogram,
            labels: ["method", "route"],
            "Time from a request's head to the head of its response"
        ),
        MetricFamily(
            "larder_http_refusals_total",
            .counter,
            labels: ["code"],
            "Requests that the connection layer refused, by problem code"
        ),
        MetricFamily(
            "larder_http_cuts_total",
            .counter,
            labels: ["reason"],
            "Connections that were closed without a complete response"
        ),
        MetricFamily("larder_http_connections", .gauge, "Open connections"),
        MetricFamily("larder_http_clients", .gauge, "Addresses, or IPv6 networks, that open connections are from"),
        MetricFamily(
            "larder_http_held_bytes",
            .gauge,
            "Bytes that requests under way, and responses that clients have not taken, hold by estimate"
        ),
        MetricFamily(
            "larder_http_held_budget_bytes",
            .gauge,
            "Bytes beyond which connections that hold more than their share begin no further request"
        ),
        MetricFamily("larder_event_listeners", .gauge, "Listeners of the event stream"),
        MetricFamily("larder_event_deliveries_total", .counter, "How often an event was passed to a listener"),
    ]

    private static let cache = [
        MetricFamily("larder_rendered_hits_total", .counter, "Responses that were sent from the cache in memory"),
        MetricFamily(
            "larder_cache_requests_total",
            .counter,
            labels: ["result"],
            "Requests for content of upstreams: hit without a request to the upstream, or forwarded"
        ),
        MetricFamily(
            "larder_cache_bytes",
            .gauge,
            labels: ["upstream"],
            "Bytes of the stored responses of an upstream"
        ),
        MetricFamily("larder_cache_budget_bytes", .gauge, "Size limit of stored responses"),
        MetricFamily("larder_cache_evictions_total", .counter, "Responses and page lists that had to make room"),
        MetricFamily("larder_database_bytes", .gauge, "Size of the database file"),
        MetricFamily("larder_database_wal_bytes", .gauge, "Size of the database's write-ahead log"),
        MetricFamily("larder_data_free_bytes", .gauge, "Free space on the file system of the data directory"),
    ]

    private static let upstreams = [
        MetricFamily(
            "larder_upstream_requests_total",
            .counter,
            labels: ["upstream", "outcome"],
            "Requests that were sent to an upstream, by class of status or kind of failure"
        ),
        MetricFamily(
            "larder_upstream_request_duration_seconds",
            .histogram,
            labels: ["upstream"],
            "Time from a request to an upstream to its response; of streamed responses to its head"
        ),
        MetricFamily(
            "larder_upstream_reachable",
            .gauge,
            labels: ["upstream"],
            "1 if the upstream responds, 0 if it is unreachable"
        ),
    ]

    /// Several servers share these writes, and each server reports all of them.
    private static let outbox = [
        MetricFamily(
            "larder_outbox_waiting",
            .gauge,
            labels: ["upstream"],
            "Writes that wait for an upstream, those of `larder_outbox_failed` included"
        ),
        MetricFamily(
            "larder_outbox_failed",
            .gauge,
            labels: ["upstream"],
            "Writes that wait for a user: refused, in conflict, or failing again and again"
        ),
        MetricFamily(
            "larder_outbox_oldest_seconds",
            .gauge,
            labels: ["upstream"],
            "Age of the oldest write that waits for an upstream; 0 if none waits"
        ),
    ]

    private static let work = [
        MetricFamily("larder_media_jobs_running", .gauge, "Programs that work on pictures and documents"),
        MetricFamily("larder_media_jobs_waiting", .gauge, "Jobs for pictures and documents that wait for a program"),
        MetricFamily("larder_build_info", .gauge, labels: ["version"], "1, with the version of this build"),
        MetricFamily("larder_node_info", .gauge, labels: ["node"], "1, with `node.name`; absent without one"),
    ]

    /// The shared store; absent without one.
    private static let store = [
        MetricFamily(
            "larder_store_operations_running",
            .gauge,
            "Operations of the shared store (`store.url`) that have a connection"
        ),
        MetricFamily(
            "larder_store_operations_waiting",
            .gauge,
            "Operations of the shared store that wait for a connection"
        ),
        MetricFamily(
            "larder_store_operation_duration_seconds",
            .histogram,
            "Time of an operation of the shared store, from waiting for a connection to its end or failure"
        ),
        MetricFamily(
            "larder_store_failures_total",
            .counter,
            labels: ["reason"],
            "Operations of the shared store that failed: unavailable, outcome-unknown, refused"
        ),
        MetricFamily(
            "larder_store_hearing",
            .gauge,
            "1 if what other servers tell is heard; 0 if nothing of users' data is kept"
        ),
    ]

    /// The kinds of the metrics by their names.
    static var kinds: JSONObject { JSONObject(families.map { ($0.name, .string($0.kind.rawValue)) }) }

    /// Returns the table in docs/metrics.md and in the contract.
    static func markdown() -> String {
        let rows = families.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(family.name)` | \(family.kind.rawValue) | \(labels.isEmpty ? "–" : labels) | \(family.help) |"
        }
        return (["| metric | type | labels | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}

/// The values of `/metrics` that are read when they are requested.
struct ServerGauges: Sendable {
    private let connections: OpenConnections
    private let events: EventStream
    private let media: MediaEngine
    private let shared: ClusterAccess?
    private let outboxes: [@Sendable () -> [String: OutboxLoad]]
    private let clock: WallClock
    private let database: URL
    private let budgetBytes: Int
    private let node: String?

    /// - Parameter outboxes: Return the writes that wait for upstreams, by the names of the upstreams.
    init(_ resources: ServerResources, outboxes: [@Sendable () -> [String: OutboxLoad]]) {
        self.outboxes = outboxes
        clock = resources.clock
        connections = resources.connections
        events = resources.events
        media = resources.media
        shared = resources.shared?.access
        database = URL(filePath: resources.database.directory.databasePath)
        budgetBytes = resources.configuration.settings[ServerSettings.cacheBudget].bytes
        node = resources.configuration.node.name
    }

    func samples() async -> [MetricSample] {
        let load = await media.load
        let counts = [
            MetricSample("larder_http_connections", Double(connections.count)),
            MetricSample("larder_http_clients", Double(connections.clients)),
            MetricSample("larder_http_held_bytes", Double(connections.held)),
            MetricSample("larder_http_held_budget_bytes", Double(connections.budget)),
            MetricSample("larder_event_listeners", Double(events.listenerCount)),
            MetricSample("larder_event_deliveries_total", Double(events.deliveryCount)),
            MetricSample("larder_media_jobs_running", Double(load.running)),
            MetricSample("larder_media_jobs_waiting", Double(load.waiting)),
            MetricSample("larder_cache_budget_bytes", Double(budgetBytes)),
            MetricSample("larder_build_info", 1, labels: [("version", LarderVersion.text)]),
        ]
        return await counts + waitingWrites() + nodeInfo() + storage() + store() + ProcessStatistics.now().samples
    }

    private func waitingWrites() -> [MetricSample] {
        outboxes.flatMap { $0() }.flatMap { upstream, load in
            let age = load.oldest.map { max(0, clock.now().timeIntervalSince($0)) }
            let values = [
                ("waiting", Double(load.waiting)), ("failed", Double(load.undecided)), ("oldest_seconds", age ?? 0),
            ]
            return values.map { MetricSample("larder_outbox_\($0)", $1, labels: [("upstream", upstream)]) }
        }
    }

    /// The samples of the shared store; none without one.
    private func store() async -> [MetricSample] {
        guard let shared else { return [] }
        let load = await shared.database.load
        let failures = [
            ("unavailable", load.failures.unavailable), ("outcome-unknown", load.failures.outcomeUnknown),
            ("refused", load.failures.refused),
        ]
        let values = [
            MetricSample("larder_store_operations_running", Double(load.running)),
            MetricSample("larder_store_operations_waiting", Double(load.waiting)),
            MetricSample("larder_store_hearing", shared.changes.isConnected ? 1 : 0),
        ]
        return values
            + failures.map { reason, count in
                MetricSample("larder_store_failures_total", Double(count), labels: [("reason", reason)])
            }
    }

    /// The name of the process, if it has one. A join adds it to every other metric, as with `larder_build_info`.
    private func nodeInfo() -> [MetricSample] {
        node.map { [MetricSample("larder_node_info", 1, labels: [("node", $0)])] } ?? []
    }

    /// Sizes of files, without those that cannot be read.
    private func storage() -> [MetricSample] {
        func size(_ path: String) -> Double? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.size].flatMap { $0 as? NSNumber }?.doubleValue
        }
        let volume = try? FileManager.default.attributesOfFileSystem(forPath: database.deletingLastPathComponent().path)
        let values = [
            ("larder_database_bytes", size(database.path)),
            ("larder_database_wal_bytes", size("\(database.path)-wal")),
            ("larder_data_free_bytes", (volume?[.systemFreeSize] as? NSNumber)?.doubleValue),
        ]
        return values.compactMap { name, value in value.map { MetricSample(name, $0) } }
    }
}

/// The number of connections that are accepted at a time, and of listeners. With NIO's default of four, the last of
/// hundreds of simultaneous connections waits for dozens of turns of the event loop. With a hundred, open connections
/// wait for milliseconds.
struct ConnectionBurst {
    /// Connections that wait in the kernel for a listener that pauses.
    static let backlog = 1024

    /// Connections that a listener accepts in one turn.
    let size: Int
    /// Listeners among which the kernel divides clients.
    let listeners: Int
    /// Limits of connections are checked only between two bursts. This limit is lower than the configured one, so that
    /// a whole burst of each listener does not exceed the configured one. A burst is therefore a small part of it.
    let limit: Int

    init(connections: Int) {
        listeners = connections >= 128 ? 8 : 1
        size = min(16, max(1, connections / 16 / listeners))
        limit = connections - (size * listeners - 1)
    }

    /// Adds the listeners, and makes clients take turns. If that fails, NIO's own order remains.
    /// - Parameter clientLimit: Largest number of connections of one client that wait for its turns.
    func apply(to channel: any Channel, _ places: ConnectionSlots, clientLimit: Int, logger: Logger) async {
        do {
            try await AcceptQueue.add(to: channel, limit: clientLimit)
            try await channel.setOption(.maxMessagesPerRead, value: UInt(size)).get()
            try await ClientListeners.add(to: channel, burst: size, count: listeners, places) { address, initializer in
                try await ServerBootstrap(group: channel.eventLoop, childGroup: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(.backlog, value: Int32(Self.backlog))
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .serverChannelOption(.socketOption(ClientListeners.reusesPort), value: 1)
                    .serverChannelOption(.maxMessagesPerRead, value: UInt(size))
                    .serverChannelInitializer(initializer)
                    .bind(to: address).get()
            }
        } catch {
            logger.warning("connections are accepted in the order of their arrival", metadata: ["error": "\(error)"])
        }
    }
}
