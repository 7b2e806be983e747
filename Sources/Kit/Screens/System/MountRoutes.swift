import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Server
package import Upstream

/// `/v1/upstreams/{name}/{path…}`: the APIs of the upstreams themselves, through the cache, byte for byte.
package struct MountRoutes: Sendable {
    /// The beginning of their paths.
    static let prefix = "/v1/upstreams/"
    /// The path in openapi.yaml; its last parameter matches any number of segments.
    static let template = "/v1/upstreams/{name}/{path}"

    private let mounts: [String: Mount]
    private let made: @Sendable (_ name: String) -> Mount?
    private let elsewhere: Set<String>
    private let sessions: SessionStore
    private let credentials: [String: CredentialProvider]

    /// Returns the credential of a session's account for an upstream; nil if the account is not logged in there. May
    /// throw a problem.
    package typealias CredentialProvider = @Sendable (Session) async throws -> MountCredential?

    /// - Parameters:
    ///   - mounts: the mounts
    ///   - made: returns the mount of an upstream that a test has made; it takes precedence over a configured one
    ///   - elsewhere: names of upstreams that another process serves
    ///   - sessions: tells which bearer tokens are Larder's own: they are sent to no upstream
    ///   - credentials: by upstream, the provider of the credential that replaces such a token. A provider decides by
    ///     the app and the account of the session, so that no account gets another's credential.
    package init(
        mounts: [Mount],
        made: @escaping @Sendable (_ name: String) -> Mount? = { _ in nil },
        elsewhere: Set<String> = [],
        sessions: SessionStore,
        credentials: [String: CredentialProvider] = [:]
    ) {
        self.credentials = credentials
        self.made = made
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
        Self.split(path).flatMap { mount(named: $0.name) }.map(Self.allowedMethods) ?? []
    }

    private func mount(named name: String) -> Mount? { made(name) ?? mounts[name] }

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
        // A preflight asks for the rights of pages here, which is not for the upstream to decide.
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
        guard let mount = mount(named: name) else {
            if elsewhere.contains(name) { throw Problem.misdirected("The upstream \(name)") }
            throw Problem.notFound(
                "There is no upstream of this name; its own API would be below \(Self.prefix){name}/."
            )
        }
        return (mount, target)
    }

    /// Sends a request through a mount and returns its response.
    ///
    /// - Throws: ``UpstreamFailure``; `StorageError`, `ClusterError`.
    private func forward(
        _ request: Request,
        _ method: HTTPRequest.Method,
        _ target: String,
        through mount: Mount,
        _ context: ScreenContext
    ) async throws -> Response {
        do {
            let tokens = SessionToken.possibleHashes(in: request.headers)
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

    /// Returns the URL of a mount by the name that the client has for this server.
    private static func url(of mount: Mount, _ request: Request, _ context: ScreenContext) -> String {
        let scheme = context.browser.isSecure ? "https" : "http"
        return "\(scheme)://\(request.head.authority ?? "")\(prefix)\(mount.upstream.configuration.name)"
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
        _ tokens: [Data],
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
            mountURL: Self.url(of: mount, request, context),
            headerFields: fields,
            body: hasBody ? ByteStream(request.body) : nil,
            bodyLength: hasBody ? length : nil,
            credential: credential,
            interim: { send(ProxyResponseRenderer.interim($0)) }
        )
    }
}

/// Renders the response of a mount: no entity tag, no compression, no field that neither the upstream nor the cache
/// wrote.
enum ProxyResponseRenderer {
    static func render(_ proxied: ProxyResponse) -> Response {
        let fields = withoutWordsForItsOrigin(proxied.head.headerFields)
        let body: ResponseBody
        switch proxied.body {
        case .none: body = ResponseBody()
        case .bytes(let bytes): body = ResponseBody(byteBuffer: bytes)
        case .stream(let parts, let length):
            body = ResponseBody(contentLength: length) { writer in
                for try await part in parts { try await writer.write(part) }
                try await writer.finish(nil)
            }
        }
        var response = Response(status: proxied.head.status, headers: fields, body: body)
        // RFC 9110 §8.6: a response to HEAD, a 204 and a 304 do not get a length of their own.
        if case .none = proxied.body { response.headers[.contentLength] = fields[.contentLength] }
        return response
    }

    /// Returns the interim response to send.
    static func interim(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        removeWordsForItsOrigin(from: &response.headerFields)
        return response
    }

    private static let wordsForItsOrigin: Set = [
        "clear-site-data", "strict-transport-security", "alt-svc", "service-worker-allowed",
        // These would make browsers report requests to this origin, or send more fields with them, from then on.
        "nel", "report-to", "reporting-endpoints", "accept-ch", "critical-ch", "origin-agent-cluster",
        "use-as-dictionary",
        // These would make browsers report on this origin's certificates, or bind it to sessions of the upstream.
        // `Public-Key-Pins` passes: only a certificate with one of the keys can be bound to them (RFC 7469 §2.5).
        "public-key-pins-report-only", "expect-ct", "set-login", "sec-session-registration",
        "secure-session-registration",
    ]

    /// Removes header fields by which an upstream configures its own origin, since browsers would apply them to this
    /// one. Only `http.allowed_origins` decides which pages may read here (CORS protocol), and nothing of an upstream
    /// has the rights of this origin.
    private static func removeWordsForItsOrigin(from fields: inout HTTPFields) {
        fields.removeAll { field in
            let name = field.name.canonicalName
            return name.hasPrefix("access-control-") || wordsForItsOrigin.contains(name)
                // Only this server may give a page a session.
                || name == "set-cookie" && CookiePairs.sets(field.value, SessionCookies.common)
        }
    }

    /// The same, with fields that keep the response from the rights of this origin.
    static func withoutWordsForItsOrigin(_ fields: HTTPFields) -> HTTPFields {
        var result = fields
        removeWordsForItsOrigin(from: &result)
        if !PassiveType.isNamed(by: fields[values: .contentType]) {
            result.append(HTTPField(name: .contentSecurityPolicy, value: "sandbox"))
        }
        result[.contentTypeOptions] = "nosniff"
        return result
    }
}

/// The media types that no browser makes a document of which could run scripts: a response of such a type needs no
/// sandbox, provided that it has `nosniff`.
///
/// With `nosniff` browsers use the type that a response declares (MIME Sniffing §7), unless it declares none, several,
/// or one that they take for "unknown". A list of types that run scripts would never be complete: any XML, types of
/// plug-ins and viewers (PDF), and `multipart/x-mixed-replace`, whose parts declare types of their own.
enum PassiveType {
    private static let names: Set<String> = [
        "application/json", "application/octet-stream", "application/zip", "application/gzip",
        "image/apng", "image/avif", "image/bmp", "image/gif", "image/heic", "image/jpeg", "image/png", "image/webp",
        "image/x-icon", "image/vnd.microsoft.icon",
        "text/css", "text/csv", "text/plain",
    ]
    private static let kinds = ["audio/", "font/", "video/"]

    /// Returns whether the lines of `Content-Type` name one type, and that is a passive one.
    static func isNamed(by lines: [String]) -> Bool {
        // A comma may separate types, of which a browser takes the last one (Fetch, "extract a MIME type").
        guard lines.count == 1, let line = lines.first, !line.utf8.contains(UInt8(ascii: ",")) else { return false }
        let name = ParameterizedValue.essence(of: line)
        if names.contains(name) { return true }
        let isToken = name.utf8.allSatisfy { ASCIISet.alphanumerics.contains($0) || "/.+-_".utf8.contains($0) }
        guard isToken, name.split(separator: "/", omittingEmptySubsequences: false).count == 2 else { return false }
        if name.hasSuffix("+xml") { return false }
        return name.hasSuffix("+json") || kinds.contains { name.hasPrefix($0) }
    }
}
