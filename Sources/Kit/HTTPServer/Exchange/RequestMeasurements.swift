public import HTTPTypes
import Metrics

/// Method, route pattern and status of requests that are counted together.
public struct RequestLabels: Hashable, Sendable {
    let method: String
    let route: String
    let status: Int
    let cacheResult: CacheResult?

    /// What the cache of upstream responses did for a request.
    public enum CacheResult: String, Sendable {
        /// It was served without a request to the upstream.
        case hit
        /// A request went to the upstream.
        case forwarded
    }

    /// Creates labels. Clients choose methods: an unknown one gets no series of its own.
    /// - Parameter cacheResult: what `Cache-Status` says; nil without the field
    public init(method: HTTPRequest.Method, route: String, status: Int, cacheResult: CacheResult? = nil) {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        self.method = known.contains(method) ? method.rawValue : "other"
        self.route = route
        self.status = status
        self.cacheResult = cacheResult
    }
}

/// The series of requests with the same labels.
public struct RequestMeasurements: Sendable {
    let total: Counter
    let duration: Metrics.Timer
    let cache: Counter?

    /// Creates the series.
    public init(_ labels: RequestLabels) {
        let dimensions = [("method", labels.method), ("route", labels.route)]
        total = Counter(
            label: "larder_http_requests_total",
            dimensions: dimensions + [("status", String(labels.status))]
        )
        duration = Metrics.Timer(label: "larder_http_request_duration_seconds", dimensions: dimensions)
        cache = labels.cacheResult.map {
            Counter(label: "larder_cache_requests_total", dimensions: [("result", $0.rawValue)])
        }
    }

    func record(_ span: Duration) {
        let (seconds, attoseconds) = span.components
        total.increment()
        cache?.increment()
        duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
