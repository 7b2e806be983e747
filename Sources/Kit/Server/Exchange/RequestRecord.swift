import HTTP
package import HTTPTypes
package import Logging
import Metrics
import Synchronization

/// The record of a request once its response is known: a count, its duration by route pattern, and a log line.
///
/// The line and the labels hold the path without its query, and no header field: neither may hold private data.
package struct RequestRecord: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let status: Int
    let measurements: RequestMeasurements

    package init(method: HTTPRequest.Method, path: String, status: Int, measurements: RequestMeasurements) {
        self.method = method
        self.path = path
        self.status = status
        self.measurements = measurements
    }

    /// Whether the response has a body on the wire (RFC 9110 §6.4.1).
    var hasBody: Bool { method != .head && status != 304 && status != 204 }

    /// Counts and times the request, and writes its line with a logger that has the request's identity.
    ///
    /// - Parameter logger: Nil for a request of many that have one line together.
    package func note(_ duration: Duration, logger: Logger?) {
        measurements.record(duration)
        if let logger { write(duration, logger: logger) }
    }

    /// Counts and times the request, and writes its line with an identity that the logger does not have.
    ///
    /// - Parameter traceID: identity of the client's trace; computed only if there is a line.
    func note(
        _ duration: Duration,
        requestID: RequestIdentity,
        traceID: @autoclosure () -> String?,
        logger: Logger
    ) {
        measurements.record(duration)
        guard logger.logLevel <= .info else { return }
        var logger = logger
        logger[metadataKey: "request_id"] = "\(requestID)"
        if let traceID = traceID() { logger[metadataKey: "trace_id"] = "\(traceID)" }
        write(duration, logger: logger)
    }

    private func write(_ duration: Duration, logger: Logger) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Double(attoseconds) / 1e15 + Double(seconds) * 1000
        logger.info(
            "request",
            metadata: [
                "method": "\(method.rawValue)", "path": "\(path)", "status": .stringConvertible(status),
                "ms": .stringConvertible((milliseconds * 100).rounded() / 100),
            ]
        )
    }
}

/// Method, route pattern and status of requests that are counted together.
package struct RequestLabels: Hashable, Sendable {
    let method: String
    let route: String
    let status: Int
    let cacheResult: CacheResult?

    /// The result of the cache of upstream responses for a request.
    package enum CacheResult: String, Sendable {
        /// It was served without a request to the upstream.
        case hit
        /// A request was sent to the upstream.
        case forwarded
    }

    /// Creates labels. Clients choose methods: an unknown one gets no series of its own.
    /// - Parameter cacheResult: the result in `Cache-Status`; nil without the field
    package init(method: HTTPRequest.Method, route: String, status: Int, cacheResult: CacheResult? = nil) {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        self.method = known.contains(method) ? method.rawValue : "other"
        self.route = route
        self.status = status
        self.cacheResult = cacheResult
    }
}

/// The series of requests with the same labels.
package struct RequestMeasurements: Sendable {
    let total: Counter
    let duration: Metrics.Timer
    let cache: Counter?

    package init(_ labels: RequestLabels) {
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

/// The identity of a request that is responded to from the response cache.
enum RequestIdentity: CustomStringConvertible, Sendable {
    /// The client's own.
    case wanted(String)
    /// One that Larder assigned.
    case assigned(RequestIdentities.Number)

    /// The text of `X-Request-Id`.
    var description: String {
        switch self {
        case .wanted(let text): text
        case .assigned(let number): number.description
        }
    }
}

/// Assigns identities to requests: the client's own `X-Request-Id` if it is harmless, else the run of the server and a
/// sequence number.
package final class RequestIdentities: Sendable {
    /// An identity that Larder assigned.
    struct Number: CustomStringConvertible, Sendable {
        let run: String
        let number: Int

        var description: String { "\(run)-\(number)" }
    }

    private let run: String
    private let lastNumber = Atomic(0)

    /// Creates the identities of a run of the server.
    package init(run: String) {
        self.run = run
    }

    /// Returns the client's own identity if it is harmless, else the next one.
    package func identity(wanted: String?) -> String {
        if let wanted, Self.isHarmless(wanted) { return wanted }
        return next().description
    }

    func next() -> Number {
        Number(run: run, number: lastNumber.add(1, ordering: .relaxed).newValue)
    }

    /// Whether a text has at most 128 characters, none of which can break a log line or a header field.
    static func isHarmless(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 128
            && text.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "-.:_".utf8.contains($0) }
    }
}
