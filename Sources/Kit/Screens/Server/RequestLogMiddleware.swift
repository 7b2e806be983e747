import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOConcurrencyHelpers

/// Gives every request its identity, counts and times it by route pattern, and writes one line about it.
///
/// The line and the labels hold the path without its query, and no header field: neither may hold what is private.
struct RequestLogMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    private let identities: RequestIdentities
    private let counters = NIOLockedValueBox<[RequestLabels: RequestMeasurements]>([:])

    init(run: String) {
        identities = RequestIdentities(run: run)
    }

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.requestID = identities.identity(wanted: request.headers[.requestID])
        context.logger[metadataKey: "hb.request.id"] = nil
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        let duration = ContinuousClock.now - start
        let endpoint = context.endpointPath ?? "NotFound"
        measurements(RequestLabels(method: request.method, route: endpoint == "NotFound" ? "none" : endpoint, status: response.status.code)).record(duration)
        context.logger.info(
            "request",
            metadata: [
                "method": "\(request.method.rawValue)", "path": "\(request.uri.path)", "status": "\(response.status.code)",
                "ms": "\((Double(duration.components.attoseconds) / 1e15 + Double(duration.components.seconds) * 1000).rounded(toPlaces: 2))",
            ]
        )
        return response
    }

    private func measurements(_ labels: RequestLabels) -> RequestMeasurements {
        counters.withLockedValue { all in
            if let known = all[labels] { return known }
            let new = RequestMeasurements(labels)
            all[labels] = new
            return new
        }
    }
}

private struct RequestLabels: Hashable {
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

private struct RequestMeasurements: Sendable {
    let total: Counter
    let duration: Metrics.Timer

    init(_ labels: RequestLabels) {
        let dimensions = [("method", labels.method), ("route", labels.route)]
        total = Counter(label: "larder_http_requests_total", dimensions: dimensions + [("status", String(labels.status))])
        duration = Metrics.Timer(label: "larder_http_request_duration_seconds", dimensions: dimensions)
    }

    func record(_ span: Duration) {
        total.increment()
        duration.recordNanoseconds(span.components.seconds * 1_000_000_000 + span.components.attoseconds / 1_000_000_000)
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        let factor = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * factor).rounded() / factor
    }
}
