import HTTPServer

/// Everything that `/metrics` may contain: `# HELP` and docs/operations.md are made from it.
enum MetricCatalogue {
    static let families: [MetricFamily] = http + cache + upstreams + work + store + ProcessStatistics.families

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

    private static let work = [
        MetricFamily("larder_media_jobs_running", .gauge, "Programs that work on pictures and documents"),
        MetricFamily("larder_media_jobs_waiting", .gauge, "Jobs for pictures and documents that wait for a program"),
        MetricFamily("larder_build_info", .gauge, labels: ["version"], "1, with the version of this build"),
        MetricFamily("larder_node_info", .gauge, labels: ["node"], "1, with `node.name`; absent without one"),
    ]

    /// The store that servers share; absent without one.
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

    /// The table in docs/operations.md.
    static func markdown() -> String {
        let rows = families.map { family in
            let labels = family.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(family.name)` | \(family.kind.rawValue) | \(labels.isEmpty ? "–" : labels) | \(family.help) |"
        }
        return (["| metric | type | labels | meaning |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}
