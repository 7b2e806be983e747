import HTTPTypes
import Logging
import Metrics

/// What is said of a request once it is answered: a count, a time by route pattern, and one line.
///
/// The line and the labels hold the path without its query, and no header field: neither may hold what is private.
struct RequestRecord: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let status: Int
    let measurements: RequestMeasurements

    /// Whether the response has a body on the wire (RFC 9110 §6.4.1).
    var hasBody: Bool { method != .head && status != 304 && status != 204 }

    /// Counts and times it, and writes its line with a logger that knows the request's identity.
    func note(_ span: Duration, logger: Logger) {
        measurements.record(span)
        write(span, logger: logger)
    }

    /// The same for a request that the logger does not know yet.
    func note(_ span: Duration, requestID: RequestIdentities.Number, logger: Logger) {
        measurements.record(span)
        guard logger.logLevel <= .info else { return }
        var logger = logger
        logger[metadataKey: "request_id"] = "\(requestID)"
        write(span, logger: logger)
    }

    private func write(_ span: Duration, logger: Logger) {
        logger.info(
            "request",
            metadata: [
                "method": "\(method.rawValue)", "path": "\(path)", "status": "\(status)",
                "ms":
                    "\((Double(span.components.attoseconds) / 1e15 + Double(span.components.seconds) * 1000).rounded(toPlaces: 2))",
            ]
        )
    }
}

/// Method, route pattern and status.
struct RequestLabels: Hashable {
    let method: String
    let route: String
    let status: Int

    /// Methods are the client's to choose: an unknown one gets no series, and no entry, of its own.
    init(method: HTTPRequest.Method, route: String, status: Int) {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        self.method = known.contains(method) ? method.rawValue : "other"
        self.route = route
        self.status = status
    }
}

/// The series of one kind of request.
struct RequestMeasurements: Sendable {
    let total: Counter
    let duration: Metrics.Timer

    init(_ labels: RequestLabels) {
        let dimensions = [("method", labels.method), ("route", labels.route)]
        total = Counter(
            label: "larder_http_requests_total",
            dimensions: dimensions + [("status", String(labels.status))]
        )
        duration = Metrics.Timer(label: "larder_http_request_duration_seconds", dimensions: dimensions)
    }

    func record(_ span: Duration) {
        total.increment()
        duration.recordNanoseconds(
            span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000
        )
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * factor).rounded() / factor
    }
}
