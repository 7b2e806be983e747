import Concurrency
import HTTP
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import Server
import Synchronization
import Upstream

/// Gives every request its identity, counts and times it by route pattern, and writes one line about it.
final class RequestLogMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    private let identities: RequestIdentities
    private let proxies: TrustedProxies
    private let counters = Mutex<[RequestLabels: RequestMeasurements]>([:])

    init(identities: RequestIdentities, proxies: TrustedProxies) {
        self.identities = identities
        self.proxies = proxies
    }

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        let start = ContinuousClock.now
        var context = context
        context.requestID = identities.identity(wanted: request.headers.value(of: .requestID))
        context.peerAddress = context.clientAddress
        context.clientAddress = proxies.client(behind: context.clientAddress, request.headers)
        let trace = RequestTrace(requestID: context.requestID, request.headers) {
            max(1, Randomness.number(for: "span"))
        }
        context.logger[metadataKey: "hb.request.id"] = nil
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        if let traceID = trace.traceID { context.logger[metadataKey: "trace_id"] = "\(traceID)" }
        let scope = RequestScope()
        defer { scope.end() }
        var response = try await RequestTrace.$current.withValue(trace) { [context] in
            try await RequestScope.$current.withValue(scope) { try await next(request, context) }
        }
        response.headers[.requestID] = context.requestID
        let record = record(request, response, route: context.endpointPath)
        let isLoggedWithOthers = context.annotations.values.isLoggedWithOthers
        record.note(ContinuousClock.now - start, logger: isLoggedWithOthers ? nil : context.logger)
        context.annotations.update { $0.record = record }
        return response
    }

    private func record(_ request: Request, _ response: Response, route: String?) -> RequestRecord {
        let route = route.flatMap { $0 == "NotFound" ? nil : $0 } ?? "none"
        let labels = RequestLabels(
            method: request.method,
            route: route,
            status: response.status.code,
            cacheResult: Self.isHit(response.headers).map { $0 ? .hit : .forwarded }
        )
        return RequestRecord(
            method: request.method,
            path: request.uri.path,
            status: response.status.code,
            measurements: measurements(labels)
        )
    }

    /// Returns whether the response was served without a request to an upstream, by the server's own member of
    /// `Cache-Status`, the last one (RFC 9211 §2); nil without the field.
    private static func isHit(_ fields: HTTPFields) -> Bool? {
        guard let own = fields[values: .cacheStatus].flatMap({ FieldList.members(of: $0) }).last else { return nil }
        return FieldList.members(of: own, separator: ";").contains("hit")
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
