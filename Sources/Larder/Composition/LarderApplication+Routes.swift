import Foundation
import Hummingbird
import Sandbox
import Screens
import Server
import ServiceLifecycle
import Upstream

extension LarderApplication {
    /// The routes of paired devices.
    static func devices(_ resources: ServerResources) -> DeviceRoutes {
        let (configuration, settings) = (resources.configuration, resources.configuration.settings)
        let (names, port) = (resources.certificate?.current.names, settings[HTTPSettings.port])
        return DeviceRoutes(
            devices: resources.devices,
            codes: resources.pairing,
            mode: settings[HTTPSettings.access],
            address: PairingAddress.origin(of: configuration, names, port: port),
            events: resources.events
        )
    }

    /// Unpairs the devices that `larder devices revoke` has named.
    static func revocations(_ resources: ServerResources) -> DeviceRevocations {
        DeviceRevocations(
            resources.devices,
            file: RevocationFile(in: resources.configuration.dataDirectory),
            events: resources.events,
            logger: resources.logger
        )
    }

    /// Removes the stored responses to requests with `Idempotency-Key`.
    static func expiryOfResponses(_ resources: ServerResources) -> ExpiryService {
        let responses = KeyedResponses(resources.sessions)
        return ExpiryService(
            of: "stored responses to changes",
            by: resources.retention,
            logger: resources.logger,
            purge: responses.purge(at:)
        )
    }

    /// The routes of the front end; nil if it is not served.
    static func pages(_ configuration: LarderConfiguration) throws -> WebRoutes? {
        guard configuration.settings[ServerSettings.webEnabled] else { return nil }
        let folder = try configuration.settings[ServerSettings.webDirectory].map { try WebAssets(folder: $0) }
        return WebRoutes(
            assets: folder ?? .embedded,
            publicOrigin: configuration.publicURL?.origin,
            scheme: configuration.scheme,
            apps: configuration.node.apps.types.map { $0.name }
        )
    }

    /// The middleware and the routes behind it.
    static func router(
        _ table: RouteTable,
        _ resources: ServerResources,
        _ identities: RequestIdentities,
        isUnderTest: Bool
    ) -> ScreenRouter {
        let (configuration, settings) = (resources.configuration, resources.configuration.settings)
        let origins = OriginRules(
            allowed: settings[HTTPSettings.allowedOrigins],
            own: configuration.publicURL.map { [$0.origin] } ?? [],
            scheme: configuration.scheme
        )
        return ScreenRouter(
            table: table,
            sessions: resources.sessions,
            hosts: hosts(resources),
            origins: origins,
            identities: identities,
            proxies: configuration.trustedProxies,
            access: AccessRules(
                settings[HTTPSettings.access],
                operatorKey: OperatorKey(settings[HTTPSettings.operatorKey]),
                proxies: configuration.trustedProxies,
                origins: origins
            ),
            devices: resources.devices,
            paths: resources.paths,
            injectsProblems: isUnderTest
        )
    }

    static func hosts(_ resources: ServerResources) -> HostRules {
        let (publicURL, settings) = (resources.configuration.publicURL, resources.configuration.settings)
        return HostRules(
            boundHost: settings[HTTPSettings.host],
            allowed: settings[HTTPSettings.allowedHosts] + (publicURL.map { [$0.host] } ?? []),
            isCertified: { [certificate = resources.certificate] in certificate?.current.names.contains($0) ?? false }
        )
    }

    /// The cache of complete responses; nil if its budget is 0.
    static func responseCache(_ resources: ServerResources) -> ResponseCache? {
        let bytes = resources.configuration.settings[ServerSettings.responseCacheBytes]
        return bytes > 0
            ? ResponseCache(
                budgetBytes: bytes,
                languages: Language.tags,
                cookies: resources.sessions.cookies.prefix,
                run: resources.run,
                logger: resources.logger
            ) : nil
    }

    /// The routes to the controls on the sandbox's port; none without a sandbox. A fault that is set through them is
    /// detected at once.
    ///
    /// - Parameter harness: Sends requests for the server itself. Such a request may replace the server and its
    ///   clients.
    static func controls(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources, _ harness: Harness?)
        -> [Route]
    {
        guard let (address, transport) = sandbox(port: port, upstreams, resources) else { return [] }
        let ofSandbox = SandboxRoutes(.sandbox, at: address) {
            try await transport.exchange($0, within: $1)
        } changed: {
            for upstream in upstreams { upstream.probe() }
        }
        let ofHarness = SandboxRoutes(.harness, at: address) {
            try await (harness?.relay() ?? transport).exchange($0, within: $1)
        }
        return ofSandbox.routes + ofHarness.routes
    }

    /// Detects the faults that are set in the sandbox itself; none without a sandbox. It does nothing while the clock
    /// of a test is stopped.
    static func sandboxWatch(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources, _ harness: Harness?)
        -> [any Service]
    {
        guard let (address, transport) = sandbox(port: port, upstreams, resources) else { return [] }
        let events = resources.events
        return [
            SandboxWatch(
                controls: "\(address)/_sandbox",
                transport: transport,
                clock: resources.clock,
                isNeeded: { events.listenerCount > 0 && harness?.isFrozen != true },
                changed: { name in
                    for upstream in upstreams where upstream.configuration.name == name { upstream.probe() }
                }
            )
        ]
    }

    /// Scheme, host and port of the sandbox, and the function that sends requests to it.
    private static func sandbox(port: Int?, _ upstreams: [Upstream], _ resources: ServerResources) -> (
        String, any Transport
    )? {
        let timeout = upstreams.first?.configuration.connectTimeout
        guard let port, let transport = timeout.flatMap({ resources.transports[$0] }) else { return nil }
        return ("http://127.0.0.1:\(port)", transport)
    }
}

/// Responds to requests by the routes of the server, through its harness if it has one.
struct LarderResponder: HTTPResponder {
    let routes: RouterResponder<ScreenContext>
    /// Nil for a server without `--sandbox` and `--harness`, so that its requests have no overhead.
    let harness: Harness?

    func respond(to request: Request, context: ScreenContext) async throws -> Response {
        if let harness { return try await harness.respond(to: request, context) }
        return try await routes.respond(to: request, context: context)
    }
}

/// The message at the start of a server that requires paired devices and has none.
enum FirstPairing {
    /// Returns a text with a code; nil if there are devices, or if none are required.
    static func text(_ resources: ServerResources, port: Int?) -> String? {
        let configuration = resources.configuration
        guard configuration.settings[HTTPSettings.access] == .pairing, resources.devices.all.isEmpty else { return nil }
        let made = resources.pairing.makeCode()
        let names = resources.certificate?.current.names
        return text(made.code, at: PairingAddress.origin(of: configuration, names, port: port ?? 0))
    }

    /// Returns a line for the console. On a terminal, a QR code with the address of the pairing page precedes it.
    ///
    /// - Parameter isTerminal: Whether the text is written to a terminal.
    static func text(_ code: PairingCode, at origin: String?, isTerminal: Bool = isOnTerminal) -> String {
        let page = origin.map(PairingLink.page)
        let place = page.map { "at \($0)" } ?? "at /pair, under a name of this server (http.allowed_hosts)"
        let picture = page.flatMap { QRCode(PairingLink.text($0, code)) }?.terminalText ?? ""
        let line = "pair a device \(place) with the code \(code.text), in ten minutes; larder pair makes another\n"
        return (isTerminal ? picture : "") + line
    }

    private static var isOnTerminal: Bool {
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"].map { $0 != "dumb" } ?? false
    }
}

/// The origin at which devices reach the server.
enum PairingAddress {
    /// Returns the public origin of a proxy, or else one with the first host that is not for this machine only. The
    /// candidates are the names of the certificate, the allowed hosts, and the address that is listened at. Nil if
    /// there is none, or no port.
    static func origin(of configuration: LarderConfiguration, _ certificate: CertificateNames?, port: Int) -> String? {
        if let origin = configuration.publicURL?.origin { return origin }
        let host = configuration.settings[HTTPSettings.host]
        let bound = everyAddress.contains(host) ? [] : [host]
        let hosts = (certificate?.all ?? []) + configuration.settings[HTTPSettings.allowedHosts] + bound
        let reachable = hosts.first { !$0.hasPrefix("*") && !isOfThisMachine($0) }
        guard port > 0, let reachable else { return nil }
        let name = reachable.contains(":") && !reachable.hasPrefix("[") ? "[\(reachable)]" : reachable
        return "\(configuration.scheme)://\(name):\(port)"
    }

    private static let everyAddress: Set<String> = ["0.0.0.0", "::"]

    private static func isOfThisMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "::1"
    }
}
