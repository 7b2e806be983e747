import Database
import Foundation
import HTTPServer
import Media
import ResponseStore
import Screens

/// The values of `/metrics` that are read when they are requested.
struct ServerGauges: Sendable {
    private let connections: OpenConnections
    private let events: EventStream
    private let media: MediaEngine
    private let database: URL
    private let budgetBytes: Int
    private let node: String?

    init(_ resources: ServerResources) {
        connections = resources.connections
        events = resources.events
        media = resources.media
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
            MetricSample("larder_event_listeners", Double(events.listenerCount)),
            MetricSample("larder_event_deliveries_total", Double(events.deliveryCount)),
            MetricSample("larder_media_jobs_running", Double(load.running)),
            MetricSample("larder_media_jobs_waiting", Double(load.waiting)),
            MetricSample("larder_cache_budget_bytes", Double(budgetBytes)),
            MetricSample("larder_build_info", 1, labels: [("version", LarderVersion.text)]),
        ]
        return counts + nodeInfo() + storage() + ProcessStatistics.now().samples
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
