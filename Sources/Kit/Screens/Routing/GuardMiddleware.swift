import Concurrency
import HTTP
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import Server
import Synchronization
import Upstream

/// Refuses foreign hosts and foreign writes before any other part of the server sees a request.
struct GuardMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let hosts: HostRules
    let origins: OriginRules

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        guard isServed(request) else {
            throw Problem(
                .hostNotAllowed,
                "This host name is not served here; http.allowed_hosts and http.public_url set those that are."
            )
        }
        guard origins.allows(request.method, headerFields: request.headers, authority: request.head.authority) else {
            throw Problem(
                .originNotAllowed,
                "Pages of that origin may not write here; http.allowed_origins lists those that may."
            )
        }
        var context = context
        context.browser = origins.browser(request.method, request.headers, authority: request.head.authority)
        context.allowsEffects = origins.allowsEffects(request.headers, authority: request.head.authority)
        return try await next(request, context)
    }

    /// Whether the host of a request is served. Load balancers probe by HTTP/1.0 without `Host`, which no browser
    /// sends.
    private func isServed(_ request: Request) -> Bool {
        guard let authority = request.head.authority else { return HealthRoutes.probes.contains(request.uri.path) }
        return hosts.allows(authority)
    }
}

/// Refuses paths that no route is spelled like. Behind ``DeviceMiddleware``: a client that is not paired gets the same
/// response for every path.
struct CanonicalPathMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let table: RouteTable

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        guard table.isCanonical(request.uri.path) else {
            throw Problem.notFound(
                "There is nothing under this path; paths have no empty segments and no slash at the end."
            )
        }
        return try await next(request, context)
    }
}

/// Adds the CORS fields of listed origins to every response, problems included, and keeps the others from pages of
/// other origins, which could otherwise embed them. Outside of ``ProblemMiddleware``.
struct CORSFieldsMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let origins: OriginRules

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        var response = try await next(request, context)
        response.headers[.crossOriginResourcePolicy] = origins.resourcePolicy(for: request.headers)
        guard !origins.allowedOrigins.isEmpty else { return response }
        // Also without an Origin: a browser that caches such a response must not give it to a page that sends one.
        response.headers.vary(on: .origin)
        for field in origins.fields(for: request.headers) { response.headers[field.name] = field.value }
        if request.method == .options {
            for field in origins.preflightFields(for: request.headers, allowed: response.headers[.allow]) {
                response.headers[field.name] = field.value
            }
        }
        return response
    }
}

extension Problem {
    /// The problem that every request of the current task gets in place of the response of its route, for tests of
    /// clients. Everything around it is as with any problem: fields, language, log and metrics.
    @TaskLocal package static var injected: Problem?
}

/// Ends requests with the problem that a test injects.
struct InjectedProblemMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        if let problem = Problem.injected { throw problem }
        return try await next(request, context)
    }
}

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
            cacheResult: CacheStatusField.isHit(response.headers).map { $0 ? .hit : .forwarded }
        )
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

/// The parameters of the server's own member of `Cache-Status`, the last one (RFC 9211 §2).
private enum CacheStatusField {
    /// Returns whether the response was served without a request to an upstream; nil without the field.
    static func isHit(_ fields: HTTPFields) -> Bool? {
        guard let own = fields[values: .cacheStatus].flatMap({ FieldList.members(of: $0) }).last else { return nil }
        return FieldList.members(of: own, separator: ";").contains("hit")
    }
}
