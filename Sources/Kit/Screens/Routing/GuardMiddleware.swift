import Concurrency
import HTTP
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

/// Refuses requests of clients that are not paired, for any target, if the server listens to others than those of its
/// machine. It runs after ``GuardMiddleware`` and before all that has data.
struct DeviceMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let rules: AccessRules
    /// Nil for a server without devices, which serves every client that reaches it.
    let devices: DeviceStore?
    let cookies: SessionCookies

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        var context = context
        context.isOperator =
            rules.isLocal(from: context.peerAddress, authority: request.head.authority, request.headers)
            || rules.operatorKey?.opens(request.headers) == true
        guard rules.mode == .pairing, let devices else { return try await next(request, context) }
        if context.isOperator {
            let response = try await next(request, context)
            // Another client that sends the same head need not be local.
            context.annotations.update { $0.changeToken = nil }
            return response
        }
        guard let visit = try visit(of: request, context, devices) else {
            guard rules.isOpen(request.head, path: request.uri.path) else { throw Problem.pairingRequired }
            return try await next(request, context)
        }
        context.deviceID = visit.device.id
        context.boundProfile = visit.device.profile
        var response = try await next(request, context)
        context.annotations.update { $0.changeToken = $0.changeToken?.and(visit.changeToken) }
        response.body = visit.ending(with: response.body)
        return response
    }

    /// Returns the request of a device; nil if it has no token or an invalid one.
    private func visit(of request: Request, _ context: ScreenContext, _ devices: DeviceStore) throws -> DeviceVisit? {
        let fields = request.headers[values: .larderDevice]
        if let token = fields.first {
            guard fields.count == 1 else { return nil }
            return devices.begin(SessionToken.hash(token, .bearer), on: context.channel)
        }
        guard context.browser.sendsCookies else { return nil }
        let credentials = SessionCredentials(request.headers, cookies: cookies)
        return credentials.text(keptIn: DeviceRoutes.cookie).flatMap {
            devices.begin(SessionToken.hash($0, .cookie), on: context.channel)
        }
    }
}

extension HTTPField.Name {
    /// `Larder-Device`: the token of a paired device that is no browser.
    static let larderDevice = HTTPField.Name(literal: "Larder-Device")
}

/// Refuses paths that are not spelled as those of routes. It runs after ``DeviceMiddleware``: a client that is not
/// paired gets the same response for every path.
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

/// Adds the header fields by which browsers and caches distinguish clients: `Vary` by the device if clients have to be
/// paired, and the CORS fields of listed origins. Also adds a policy that keeps pages of other origins from embedding
/// the response. Problems need these fields as well, so this middleware encloses ``ProblemMiddleware``.
struct BrowserFieldsMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let origins: OriginRules
    let access: AccessRules

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        var response = try await next(request, context)
        // A response that is open to all is the same for all.
        if access.mode == .pairing, !access.isOpen(request.head, path: request.uri.path) {
            response.headers.vary(on: .larderDevice)
            response.headers.vary(on: .cookie)
        }
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
