import AppInterface
import Database
import Foundation
import HTTPServer
import Media
import ResponseStore
import Screens
import SharedStore

/// The values of `/metrics` that are read when they are requested.
struct ServerGauges: Sendable {
    private let connections: OpenConnections
    private let events: EventStream
    private let media: MediaEngine
    private let shared: SharedStoreAccess?
    private let database: URL
    private let budgetBytes: Int
    private let node: String?

    init(_ resources: ServerResources) {
        connections = resources.connections
        events = resources.events
        media = resources.media
        shared = resources.shared?.access
        database = URL(filePath: resources.database.directory.databasePath)
        budgetBytes = resources.configuration.cacheBudget.bytes
        node = resources.configuration.node.name
    }

    /// Reads the values.
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
        return await counts + nodeInfo() + storage() + store() + ProcessStatistics.now().samples
    }

    /// The store that servers share; none without one.
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
            MetricSample("larder_store_hearing", shared.changes.isHearing ? 1 : 0),
        ]
        return values
            + failures.map { reason, count in
                MetricSample("larder_store_failures_total", Double(count), labels: [("reason", reason)])
            }
    }

    /// The name of the process, if it has one: a join adds it to every other metric, as with `larder_build_info`.
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
