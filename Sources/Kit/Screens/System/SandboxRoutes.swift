package import Concurrency
import Foundation
import HTTPTypes
import Hummingbird
import JSONValues
import NIOCore
import Server
import ServiceLifecycle
package import Upstream

/// `/v1/sandbox/{path…}` and `/v1/harness/{path…}`: the controls on the sandbox's port, for pages of this origin. That
/// port has no CORS.
///
/// Only a server that was started with its sandbox or its harness has these routes, and only for clients on its own
/// machine. The guards of host and origin hold as everywhere.
package struct SandboxRoutes: Sendable {
    package enum Controls: String, CaseIterable, Sendable {
        case sandbox
        /// The server itself.
        case harness

        /// The beginning of their paths.
        var base: String { "/v1/\(rawValue)" }

        /// The controls that a request is for; nil for every other request.
        ///
        /// - Parameter target: Path and query.
        package init?(target: some StringProtocol) {
            let path = target.prefix { $0 != "?" }
            guard let found = Self.allCases.first(where: { path == $0.base || path.hasPrefix($0.base + "/") })
            else { return nil }
            self = found
        }
    }

    /// Sends a request to the sandbox's port.
    package typealias Exchange = @Sendable (OutgoingRequest, TransportLimits) async throws -> IncomingResponse

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options]
    /// Largest body of a request, as in the sandbox itself.
    private static let largestBody = 1 << 20
    private static let limits = TransportLimits(
        total: .seconds(90),
        maximumBytes: 64 << 20,
        publicAddressesOnly: false
    )

    private let controls: Controls
    private let address: String
    private let send: Exchange
    private let changed: @Sendable () -> Void

    /// - Parameters:
    ///   - controls: The controlled party.
    ///   - address: Scheme, host and port of the sandbox.
    ///   - send: Sends the requests.
    ///   - changed: Is called after a request that may have changed how the upstreams respond.
    package init(
        _ controls: Controls,
        at address: String,
        send: @escaping Exchange,
        changed: @escaping @Sendable () -> Void = {}
    ) {
        self.controls = controls
        self.address = address
        self.send = send
        self.changed = changed
    }

    package var routes: [Route] {
        [.get, .post, .put, .delete].map { method in
            Route(
                method,
                "\(controls.base)/{path}",
                controls.rawValue,
                raw: .init(
                    otherMethods: method == .get ? [.head, .options] : [],
                    allowedMethods: { _ in Self.methods },
                    handler: respond
                )
            )
        }
    }

    @Sendable private func respond(to request: Request, _ context: ScreenContext) async throws -> Response {
        // The sandbox itself listens on loopback only, whatever address the server has.
        guard context.clientAddress?.isLoopback ?? true else {
            throw Problem(.notFound, "The controls are for clients on the server's own machine.")
        }
        if request.method == .options {
            let allowed = Self.methods.map(\.rawValue).joined(separator: ", ")
            return Response(status: .noContent, headers: [.allow: allowed, .cacheControl: "no-store"])
        }
        let target = (request.head.path ?? "").dropFirst(controls.base.count)
        guard target.isEmpty || target.hasPrefix("?") || MountRequest.isBelowBase(String(target)) else {
            throw Problem(.malformedRequest, "Paths of controls have no segments . and ..")
        }
        let outgoing = try await outgoing(request, target: target)
        let response = try await context.annotations.presence.whilePresent {
            try await exchange(outgoing)
        }
        if request.method != .get, request.method != .head { changed() }
        return Self.response(response, isHead: request.method == .head)
    }

    /// Returns the request to the sandbox, with only method, target and content of this one.
    private func outgoing(_ request: Request, target: Substring) async throws -> OutgoingRequest {
        var fields = HTTPFields()
        for name in [HTTPField.Name.contentType, .accept] { fields[name] = request.headers[name] }
        var body: [UInt8]?
        if request.method == .post || request.method == .put || request.method == .delete {
            do {
                body = Array(try await request.body.collect(upTo: Self.largestBody).readableBytesView)
            } catch is NIOTooManyBytesError {
                throw Problem(.tooLarge, "The body may have \(Self.largestBody) bytes at most.")
            }
        }
        return OutgoingRequest(
            method: request.method,
            url: "\(address)/_\(controls.rawValue)\(target)",
            headerFields: fields,
            body: body.flatMap { $0.isEmpty ? nil : $0 },
            isSentOnce: true
        )
    }

    private func exchange(_ request: OutgoingRequest) async throws -> IncomingResponse {
        do {
            return try await send(request, Self.limits)
        } catch {
            throw Problem(.upstreamUnavailable, "The sandbox does not respond.")
        }
    }

    private static func response(_ received: IncomingResponse, isHead: Bool) -> Response {
        var fields: HTTPFields = [.cacheControl: "no-store", .contentTypeOptions: "nosniff"]
        for name in [HTTPField.Name.contentType, .allow] { fields[name] = received.headerFields[name] }
        // Whatever type it names, it is no page of this origin.
        fields[.contentSecurityPolicy] = "sandbox"
        let isEmpty = isHead || received.body.isEmpty
        let body = isEmpty ? ResponseBody() : ResponseBody(byteBuffer: .init(bytes: received.body))
        var response = Response(status: received.status, headers: fields, body: body)
        if isHead { response.headers[.contentLength] = received.headerFields[.contentLength] }
        return response
    }
}

/// Notices faults that are set on the sandbox's own port, past ``SandboxRoutes``: while an event stream is open, it
/// reads the state of the sandbox each second.
///
/// Only a server that was started with its sandbox has it. A real upstream is not asked for this: its
/// outage is noticed by the next request (docs/contract.md, "Freshness").
package struct SandboxWatch: Service {
    /// Time between two looks.
    static let interval: Duration = .seconds(1)
    private static let limits = TransportLimits(total: .seconds(5), maximumBytes: 1 << 20, publicAddressesOnly: false)

    private let controls: String
    private let transport: any Transport
    private let clock: WallClock
    private let isNeeded: @Sendable () -> Bool
    private let changed: @Sendable (_ upstream: String) -> Void

    /// - Parameters:
    ///   - controls: URL of the sandbox's controls.
    ///   - transport: Sends the requests.
    ///   - isNeeded: Whether an event stream is open now.
    ///   - changed: Is called with the name of an upstream whose fault is another one.
    package init(
        controls: String,
        transport: any Transport,
        clock: WallClock,
        isNeeded: @escaping @Sendable () -> Bool,
        changed: @escaping @Sendable (_ upstream: String) -> Void
    ) {
        self.controls = controls
        self.transport = transport
        self.clock = clock
        self.isNeeded = isNeeded
        self.changed = changed
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            var known: [String: String] = [:]
            while !Task.isCancelled {
                do {
                    try await clock.sleep(Self.interval)
                } catch {
                    return  // the server stops
                }
                guard isNeeded(), let faults = await faults() else { continue }
                for (name, fault) in faults where known[name, default: Self.none] != fault { changed(name) }
                known = faults
            }
        }
    }

    /// The sandbox's name for an upstream without a fault.
    private static let none = "online"

    /// Returns the faults by upstream; nil if the sandbox did not say.
    private func faults() async -> [String: String]? {
        let request = OutgoingRequest(method: .get, url: controls, headerFields: [:], body: nil, isSentOnce: true)
        guard let response = try? await transport.exchange(request, within: Self.limits), response.status == .ok,
            let state = try? JSONParser.parse(response.body), let upstreams = state.object?["upstreams"]?.array
        else { return nil }
        let named = upstreams.compactMap(\.object).compactMap { one in
            one["name"]?.string.map { ($0, one["fault"].map { $0.string ?? "\($0)" } ?? Self.none) }
        }
        return Dictionary(named) { first, _ in first }
    }
}
