public import HTTPTypes
public import Logging

/// What is recorded of a request once its response is known: a count, its duration by route pattern, and a log line.
///
/// The line and the labels hold the path without its query, and no header field: neither may hold private data.
public struct RequestRecord: Sendable {
    let method: HTTPRequest.Method
    let path: String
    let status: Int
    let measurements: RequestMeasurements

    /// Describes a request and its response.
    public init(method: HTTPRequest.Method, path: String, status: Int, measurements: RequestMeasurements) {
        self.method = method
        self.path = path
        self.status = status
        self.measurements = measurements
    }

    /// Whether the response has a body on the wire (RFC 9110 §6.4.1).
    var hasBody: Bool { method != .head && status != 304 && status != 204 }

    /// Counts and times the request, and writes its line with a logger that has the request's identity.
    public func note(_ duration: Duration, logger: Logger) {
        measurements.record(duration)
        write(duration, logger: logger)
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
                "method": "\(method.rawValue)", "path": "\(path)", "status": "\(status)",
                "ms": "\((milliseconds * 100).rounded() / 100)",
            ]
        )
    }
}
