import HTTPServer
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// Gives every request its identity, counts and times it by route pattern, and writes one line about it.
final class RequestLogMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    private let identities: RequestIdentities
    private let counters = Mutex<[RequestLabels: RequestMeasurements]>([:])

    init(identities: RequestIdentities) {
        self.identities = identities
    }

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        let start = ContinuousClock.now
        var context = context
        context.requestID = identities.identity(wanted: request.headers[.requestID])
        context.logger[metadataKey: "hb.request.id"] = nil
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        let record = record(request, response, route: context.endpointPath)
        record.note(ContinuousClock.now - start, logger: context.logger)
        context.annotations.update { $0.record = record }
        return response
    }

    private func record(_ request: Request, _ response: Response, route: String?) -> RequestRecord {
        let route = route.flatMap { $0 == "NotFound" ? nil : $0 } ?? "none"
        let labels = RequestLabels(method: request.method, route: route, status: response.status.code)
        return RequestRecord(
            method: request.method,
            path: request.uri.path,
            status: response.status.code,
            measurements: measurements(labels)
        )
    }

    private func measurements(_ labels: RequestLabels) -> RequestMeasurements {
        counters.withLock { all in
            if let known = all[labels] { return known }
            let new = RequestMeasurements(labels)
            all[labels] = new
            return new
        }
    }
}
