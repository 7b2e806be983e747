import Concurrency
import Foundation
import Freshness
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
package import Proxy
import Upstream

/// `/v1/upstreams/{name}/{path…}`: the APIs of the upstreams themselves, through the cache, byte for byte.
package struct MountRoutes: Sendable {
    /// The beginning of their paths.
    static let prefix = "/v1/upstreams/"
    /// The path in openapi.yaml; its last parameter matches any number of segments.
    static let template = "/v1/upstreams/{name}/{path}"

    private let mounts: [String: Mount]
    private let elsewhere: Set<String>
    private let sessions: SessionStore
    private let credentials: [String: CredentialProvider]

    /// Returns the credential of a session's account for an upstream; nil if the account is not logged in there. May
    /// throw a problem.
    package typealias CredentialProvider = @Sendable (Session) async throws -> MountCredential?

    /// Creates the routes.
    /// - Parameters:
    ///   - mounts: the mounts
    ///   - elsewhere: names of upstreams that another process serves
    ///   - sessions: tells which bearer tokens are Larder's own: they are sent to no upstream
    ///   - credentials: by upstream, what replaces such a token. A provider decides by the app and the account of the
    ///     session, so that no account gets another's credential.
    package init(
        mounts: [Mount],
        elsewhere: Set<String> = [],
        sessions: SessionStore,
        credentials: [String: CredentialProvider] = [:]
    ) {
        self.credentials = credentials
        self.elsewhere = elsewhere
        self.mounts = Dictionary(mounts.map { ($0.upstream.configuration.name, $0) }) { first, _ in first }
        self.sessions = sessions
    }

    /// The routes. Which of the methods a mount accepts is its own configuration.
    package var routes: [Route] {
        let listed: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete]
        let configured = mounts.values.flatMap(\.upstream.configuration.mount.methods).map(Self.asDecoded)
        let others = Set(configured + [.head, .options]).subtracting(listed)
        return listed.map { method in
            Route(
                method,
                Self.template,
                "upstreams.mount",
                raw: .init(
                    otherMethods: method == .get ? others.sorted { $0.rawValue < $1.rawValue } : [],
                    allowedMethods: { allowedMethods(path: $0) },
                    handler: respond
                )
            )
        }
    }

    /// Returns the methods of the mount that a path is below; empty if there is none.
    private func allowedMethods(path: String) -> [HTTPRequest.Method] {
        Self.split(path).flatMap { mounts[$0.name] }.map(Self.allowedMethods) ?? []
    }

    private static func allowedMethods(of mount: Mount) -> [HTTPRequest.Method] {
        let methods = mount.upstream.configuration.mount.methods
        return methods.contains(.options) ? methods : methods + [.options]
    }

    /// Returns name and target of a request target, neither decoded nor encoded; nil if nothing follows the name.
    static func split(_ path: String) -> (name: String, target: String)? {
        guard path.hasPrefix(prefix) else { return nil }
        let rest = path.utf8.dropFirst(prefix.utf8.count)
        guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }),
            rest[end] == UInt8(ascii: "/")
        else { return nil }
        return (String(Substring(rest[..<end])), String(Substring(rest[end...])))
    }

    @Sendable private func respond(to request: Request, _ context: ScreenContext) async throws -> Response {
        let (mount, target) = try mount(of: request)
        let allowed = Self.allowedMethods(of: mount)
        // A preflight asks what pages may do here, which is not for the upstream to decide.
        if request.method == .options,
            isPreflight(request) || !mount.upstream.configuration.mount.methods.contains(.options)
        {
            return Response(
                status: .noContent,
                headers: [.allow: allowed.map(\.rawValue).joined(separator: ", "), .cacheControl: "no-store"]
            )
        }
        guard let method = allowed.first(where: { Self.asDecoded($0) == request.method }) else {
            throw Problem.methodNotAllowed(request.method, allowed: allowed)
        }
        guard MountRequest.isBelowBase(target) else {
            throw Problem(.malformedRequest, "Paths below a mount have no segments . and ..")
        }
        return try await forward(request, method, target, through: mount, context)
    }

    /// Returns the mount that a request names, and the target below it.
    ///
    /// - Throws: 404 `not-found` if there is none, 421 `misdirected-request` if another process has it.
    private func mount(of request: Request) throws(Problem) -> (Mount, target: String) {
        guard let (name, target) = Self.split(request.head.path ?? "") else {
            throw Problem.notFound(
                "The own API of an upstream is below \(Self.prefix){name}/, with a slash behind the name."
            )
        }
        guard let mount = mounts[name] else {
            if elsewhere.contains(name) { throw Problem.misdirected("The upstream \(name)") }
            throw Problem.notFound(
                "There is no upstream of this name; its own API would be below \(Self.prefix){name}/."
            )
        }
        return (mount, target)
    }

    /// Sends a request through a mount and returns its response.
    ///
    /// - Throws: ``UpstreamFailure``; `StorageError`, `SharedStoreError`.
    private func forward(
        _ request: Request,
        _ method: HTTPRequest.Method,
        _ target: String,
        through mount: Mount,
        _ context: ScreenContext
    ) async throws -> Response {
        do {
            let tokens = PossibleTokens(in: request.headers)
            let sessionToken = sessions.changeToken(ofAny: tokens)
            let mountRequest = try await mountRequest(request, method, target: target, tokens, of: mount, context)
            let response = try await mount.respond(to: mountRequest)
            context.annotations.update {
                $0.changeToken = response.changeToken?.and(sessionToken)
                // RFC 9110 §6.6.1: Hummingbird writes its own otherwise.
                $0.originDate = response.head.headerFields.value(of: .date)
            }
            return ProxyResponseRenderer.render(response)
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: mount.upstream)
        }
    }

    /// Returns a method as it arrives: the decoder spells M-SEARCH without its hyphen.
    private static func asDecoded(_ method: HTTPRequest.Method) -> HTTPRequest.Method {
        method.rawValue == "M-SEARCH" ? HTTPRequest.Method("MSEARCH") ?? method : method
    }

    private func isPreflight(_ request: Request) -> Bool {
        request.headers.contains(.origin) && request.headers.contains(.accessControlRequestMethod)
    }

    private func mountRequest(
        _ request: Request,
        _ method: HTTPRequest.Method,
        target: String,
        _ tokens: PossibleTokens,
        of mount: Mount,
        _ context: ScreenContext
    ) async throws -> MountRequest {
        var fields = request.headers
        fields.removeSessionCookies()
        var credential: MountCredential?
        if let session = try await sessions.session(ofAny: tokens) {
            fields[.authorization] = nil
            let configuration = mount.upstream.configuration
            if !configuration.mount.shared { credential = try await credentials[configuration.name]?(session) }
        }
        let length = fields.declaredContentLength
        let hasBody = length.map { $0 > 0 } ?? fields.contains(.transferEncoding)
        let send = context.annotations.interim.sender()
        return MountRequest(
            method: method,
            target: target,
            headerFields: fields,
            body: hasBody ? ByteStream(request.body) : nil,
            bodyLength: hasBody ? length : nil,
            credential: credential,
            interim: { send(ProxyResponseRenderer.interim($0)) }
        )
    }
}
