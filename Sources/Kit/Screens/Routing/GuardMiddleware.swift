import HTTPTypes
import Hummingbird
import Server

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
