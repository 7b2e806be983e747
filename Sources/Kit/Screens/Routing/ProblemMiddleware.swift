import Cluster
import Foundation
import HTTP
import HTTPTypes
import Hummingbird
import Logging
import Server
import Storage
import Upstream

/// The one place where errors become responses: typed problems unchanged, router misses as 404, 405 or the response to
/// OPTIONS, everything else as 500 without its cause.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let table: RouteTable
    let outages: StoreOutages

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        let language = Language(acceptedBy: request.headers, original: table.originalLanguage(of: request.uri.path))
        return try await Language.$current.withValue(language) {
            try await ClientTimeZone.$current.withValue(Self.timeZone(of: request)) {
                try await ScreenForms.$current.withValue(table.forms) {
                    try await respond(to: request, context, next)
                }
            }
        }
    }

    /// Returns the time zone that a request names; nil if it is none, which the handler refuses.
    private static func timeZone(of request: Request) -> TimeZone? {
        guard let query = request.uri.query, query.contains("tz=") else { return nil }
        return try? QueryItems(query).timeZone()
    }

    private func respond(
        to request: Request,
        _ context: ScreenContext,
        _ next: (Request, ScreenContext) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await next(request, context)
            // RFC 9110 §15.2: an interim status does not end an exchange, the client would wait. A status below 100
            // does not exist.
            guard response.status.code >= 200 else { throw UnfinalStatus(code: response.status.code) }
            return response
        } catch {
            let outcome = response(to: request, error: error, context)
            let page = table.page(inPlaceOf: error, outcome.status, for: request.head, path: request.uri.path)
            return try ScreenResponseRenderer.render(page ?? outcome, for: request.head)
        }
    }

    private func response(to request: Request, error: any Error, _ context: ScreenContext) -> ScreenResponse {
        guard !isMiss(error, endpoint: context.endpointPath) else { return responseToMiss(request) }
        if let (problem, cause) = outage(error) {
            // A probe is repeated every second, and no user waits for it.
            if context.endpointPath != "/health/ready" { outages.note(cause, logger: context.logger) }
            context.annotations.update { $0.isLoggedWithOthers = true }
            return .problem(problem, instance: request.uri.path)
        }
        var problem = problem(for: error, logger: context.logger)
        // Of several servers, another one may have a copy (docs/scale.md).
        if problem.detail == .noResponse, [.get, .head].contains(request.method) { problem.detail = .noCopy }
        return .problem(problem, instance: request.uri.path)
    }

    /// Returns the problem of a request that fails with many others while the shared store does not respond, and its
    /// cause if that is known. Nil for another error.
    private func outage(_ error: any Error) -> (Problem, cause: String?)? {
        let problem = (error as? ClusterError).flatMap(Problem.init) ?? error as? Problem
        guard let problem, problem.code == .storeUnavailable else { return nil }
        return (problem, error is Problem ? nil : "\(error)")
    }

    /// Responds to a method and path that no route has.
    private func responseToMiss(_ request: Request) -> ScreenResponse {
        let path = request.uri.path
        // RFC 9110 §9.3.7: the server as a whole.
        if request.method == .options, request.head.path == "*" {
            return .options([.get, .head, .post, .put, .patch, .delete, .options])
        }
        if let app = table.appElsewhere(path: path) {
            return .problem(.misdirected("The app \(app)"), instance: path)
        }
        let allowed = table.allowedMethods(path: path)
        if allowed.isEmpty {
            return redirectToCanonical(request) ?? .problem(.notFound("There is no \(path)."), instance: path)
        }
        guard request.method == .options else {
            return .problem(.methodNotAllowed(request.method, allowed: allowed), instance: path)
        }
        return .options(allowed)
    }

    /// Returns a redirect to the path without needless percent-encoding, which is equivalent (RFC 3986 §6.2.2.2), if
    /// that is the path of a route; else nil.
    private func redirectToCanonical(_ request: Request) -> ScreenResponse? {
        let path = request.uri.path
        let canonical = PercentEncoding.withoutNeedlessEncoding(path)
        guard canonical != path, !table.allowedMethods(path: canonical).isEmpty else { return nil }
        let query = request.uri.query.map { "?\($0)" } ?? ""
        return ScreenResponse(status: .permanentRedirect, headerFields: [.location: canonical + query], body: .none)
    }

    /// Whether it is Hummingbird's 404: no route has this path and method.
    private func isMiss(_ error: any Error, endpoint: String?) -> Bool {
        guard let error = error as? HTTPError else { return false }
        return error.status == .notFound && endpoint == "NotFound"
    }

    private func problem(for error: any Error, logger: Logger) -> Problem {
        switch error {
        case let problem as Problem: return reported(problem, logger: logger)
        case let failure as UpstreamFailure: return reported(failure.problem, failure.error, logger: logger)
        case is CancellationError:
            // The client has disconnected, or the server stops: no client reads this.
            return Problem(.overloaded, "The server is stopping.")
        case is RequestBodyError:
            // The connection has ended, or has its response already: no client reads this, and nothing is wrong here.
            return Problem(.malformedRequest, "The body of the request did not arrive.")
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return Problem(.tooLarge, "The body is larger than is accepted here.")
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            return Problem(.malformedRequest, "The request cannot be understood.")
        case let error as StorageError:
            guard let problem = Problem(error) else { return unexpected(error, logger: logger) }
            logger.error("the stored data cannot be used", metadata: ["error": "\(error)"])
            return problem
        case let error as ClusterError:
            guard let problem = Problem(error) else { return unexpected(error, logger: logger) }
            logger.error("the shared store cannot be used", metadata: ["error": "\(error)"])
            return problem
        default: return unexpected(error, logger: logger)
        }
    }

    /// Logs why a request failed, unless its client is at fault. The text of a problem may hold private data, so it is
    /// not logged.
    private func reported(_ problem: Problem, _ cause: UpstreamError? = nil, logger: Logger) -> Problem {
        guard problem.code.status.kind == .serverError, problem.code != .notInCache else { return problem }
        var metadata: Logger.Metadata = ["code": "\(problem.code.rawValue)"]
        if let upstream = problem.upstream { metadata["upstream"] = "\(upstream.name)" }
        if let cause { metadata["cause"] = "\(cause)" }
        logger.notice("the request failed", metadata: metadata)
        return problem
    }

    private func unexpected(_ error: any Error, logger: Logger) -> Problem {
        logger.error("unexpected error", metadata: ["error": "\(error)"])
        return Problem(
            .internal,
            .internalError
        )
    }
}

/// A route responded with a status that is not final.
private struct UnfinalStatus: Error {
    let code: Int
}

extension ScreenResponse {
    fileprivate static func options(_ methods: [HTTPRequest.Method]) -> ScreenResponse {
        let allowed = methods.map(\.rawValue).joined(separator: ", ")
        return ScreenResponse(status: .noContent, headerFields: [.allow: allowed], body: .none)
    }

    static func problem(_ problem: Problem, instance: String) -> ScreenResponse {
        var fields = problem.headerFields
        fields[.cacheControl] = "no-store"
        fields[.contentLanguage] = Language.current.rawValue
        fields.vary(on: .acceptLanguage)
        let path = PercentEncoding.encode(instance, allowed: .encodedPath)
        let bytes = (try? ProblemDocument(problem, instance: path).bytes()) ?? Data()
        return ScreenResponse(
            status: problem.code.status,
            headerFields: fields,
            body: .bytes(bytes, type: MediaType.problem),
            hasValidator: false
        )
    }
}
