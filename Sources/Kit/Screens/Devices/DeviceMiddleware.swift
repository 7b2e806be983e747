import Foundation
import Freshness
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Hummingbird

/// Refuses requests of clients that are not paired, whatever they ask for, if the server listens to others than those
/// of its machine. Behind ``GuardMiddleware``, ahead of everything that has data.
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

    /// Returns the request of a device; nil if its token opens nothing, or it has none.
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

/// Says that responses depend on the device that asks, problems included. Outside of ``ProblemMiddleware``.
struct DeviceVaryMiddleware: RouterMiddleware {
    typealias Context = ScreenContext

    let rules: AccessRules

    func handle(_ request: Request, context: ScreenContext, next: (Request, ScreenContext) async throws -> Response)
        async throws -> Response
    {
        var response = try await next(request, context)
        // What is open to all is the same for all.
        guard rules.mode == .pairing, !rules.isOpen(request.head, path: request.uri.path) else { return response }
        response.headers.vary(on: .larderDevice)
        response.headers.vary(on: .cookie)
        return response
    }
}

extension HTTPField.Name {
    /// `Larder-Device`: the token of a paired device that is no browser.
    static let larderDevice = HTTPField.Name(literal: "Larder-Device")
}
