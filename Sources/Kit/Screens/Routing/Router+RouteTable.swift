import Foundation
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import Upstream

extension Router where Context == ScreenContext {
    /// Serves every route of a table, HEAD beside GET, with the session that the route requires.
    func add(_ table: RouteTable, sessions: SessionStore) {
        for route in table.routes {
            if let raw = route.raw {
                add(raw, route)
                continue
            }
            let names = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                String($0.dropFirst().dropLast())
            }
            let responder = RouteResponder(route: route, parameterNames: names, sessions: sessions)
            on(RouterPath(route.path), method: route.method, responder: responder)
            if route.method == .get { on(RouterPath(route.path), method: .head, responder: responder) }
        }
    }

    /// Everything below the path, and the path itself, which is nothing.
    private func add(_ raw: Route.RawHandling, _ route: Route) {
        let responder = CallbackResponder<ScreenContext> { try await raw.handler($0, $1) }
        let base = route.path.prefix(upTo: route.path.lastIndex(of: "/") ?? route.path.endIndex)
        for method in [route.method] + raw.beside {
            on(RouterPath("\(base)/**"), method: method, responder: responder)
            on(RouterPath(String(base)), method: method, responder: responder)
        }
    }
}

/// Calls the handler of one route.
private struct RouteResponder: HTTPResponder {
    let route: Route
    let parameterNames: [String]
    let sessions: SessionStore

    func respond(to request: Request, context: ScreenContext) async throws -> Response {
        var parameters: [String: String] = [:]
        for name in parameterNames {
            guard let raw = context.parameters.get(name), let value = raw.removingPercentEncoding,
                !value.utf8.contains(0)
            else {
                // SQLite ends texts at NUL: one in a name would stand for another name.
                throw Problem(.malformedRequest, "The \(name) in the path is not UTF-8, or holds a NUL.")
            }
            parameters[name] = value
        }
        var session: Session?
        var ownValidity = ChangeToken.unlimited
        if case .session(let app) = route.access {
            ownValidity = sessions.changeToken(for: request.headers)
            session = try sessions.session(for: request.headers, app: app)
        }
        let screenRequest = ScreenRequest(
            request,
            context: context,
            parameters: parameters,
            session: session,
            maximumBodyBytes: route.maximumBodyBytes
        )
        guard case .response(let handler) = route.responding else {
            throw Problem.notFound("There is no \(request.uri.path).")
        }
        let screen = try await handler(screenRequest)
        let response = try ScreenResponseRenderer.render(screen, for: request.head)
        if let changeToken = screen.changeToken {
            context.changeToken.withLockedValue { $0 = changeToken.and(ownValidity) }
        }
        return response
    }
}
