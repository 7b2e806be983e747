import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers

/// Gives every request its identity, counts and times it by route pattern, and writes one line about it. Marks answers
/// that may be kept, and sees to it that no other is marked.
struct RequestLogMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    private let identities: RequestIdentities
    private let rendered: ResponseCache?
    private let counters = NIOLockedValueBox<[RequestLabels: RequestMeasurements]>([:])

    init(run: String, rendered: ResponseCache?) {
        identities = rendered?.identities ?? RequestIdentities(run: run)
        self.rendered = rendered
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
        let duration = ContinuousClock.now - start
        let endpoint = context.endpointPath ?? "NotFound"
        let labels = RequestLabels(
            method: request.method,
            route: endpoint == "NotFound" ? "none" : endpoint,
            status: response.status.code
        )
        let record = RequestRecord(
            method: request.method,
            path: request.uri.path,
            status: response.status.code,
            measurements: measurements(labels)
        )
        record.note(duration, logger: context.logger)
        response.headers[.rendering] = nil
        if let rendered, let changeToken = context.changeToken.withLockedValue({ $0 }) {
            response.headers[.rendering] = rendered.expect(
                CacheTicketNote(
                    changeToken: changeToken,
                    record: record,
                    hasOwnDate: response.headers.contains(.ownDate)
                )
            )
        }
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

extension HTTPField.Name {
    // swift-format-ignore: NeverForceUnwrap
    /// ``ResponseCache/mark``.
    fileprivate static let rendering = HTTPField.Name(ResponseCache.mark)!
}
