package import Concurrency
import Foundation
import GRDB
import HTTP
package import HTTPTypes
package import NIOCore
import Storage

/// A request below a mount, in the forms in which it is decided on, stored and sent.
struct ProxiedRequest: Sendable {
    /// The absolute URL to send.
    let url: String
    /// The same as a key of the store.
    let key: String
    /// The request for the rules of caching: without hop-by-hop fields, and with hashes in place of credentials. So no
    /// field that is stored with a response (`Vary`) contains a secret.
    private(set) var cacheKeyRequest: HTTPRequest
    /// Header fields to send.
    private(set) var fields: HTTPFields
    /// The credential whose responses may be used; nil for shared ones.
    let credential: CredentialHash?
    let body: ByteStream?
    let bodyLength: Int?
    let directives: RequestDirectives
    /// Whether the account whose token Larder adds is still logged in; nil if it adds none.
    let isLoggedIn: (@Sendable (Database) throws -> Bool)?
    /// Whether Larder adds a token of the client's account.
    var isOnBehalf: Bool { isLoggedIn != nil }
    /// Whether it follows a link to another host of the upstream.
    let isLink: Bool
    /// Sends interim responses to the client; nil if none waits for the response.
    private(set) var interim: (@Sendable (HTTPResponse) -> Void)?

    init(
        _ request: MountRequest,
        to upstream: UpstreamConfiguration,
        hasher: CredentialHasher,
        _ links: MountLinks? = nil
    ) throws(UpstreamError) {
        let link = try links?.link(of: request.encodedTarget)
        url = link ?? upstream.url(of: request.encodedTarget)
        guard MountRequest.isBelowBase(request.target), let key = TargetURI.normalized(url) else {
            throw .forbiddenTarget("a path outside of its API")
        }
        isLink = link != nil
        self.key = link.flatMap { links?.key(of: $0) } ?? key
        // Fields that the operator names are for the API.
        let named = isLink ? [] : upstream.mount.requestFields.map(\.name)
        var fields = ForwardedFields.selected(from: request.headerFields, and: named)
        if links != nil { Self.limit(&fields, isLink: isLink, hasCredential: request.credential != nil) }
        cacheKeyRequest = HTTPRequest(
            method: request.method,
            scheme: nil,
            authority: nil,
            path: nil,
            headerFields: Self.hashingCredentials(of: fields, hasher)
        )
        credential = upstream.mount.shared ? nil : request.credential?.identity ?? Self.credential(in: fields, hasher)
        self.fields = Self.authorized(fields, for: request, upstream.mount)
        // A link needs no token, and may point to another service of the same origin.
        if isLink { for name in ForwardedFields.credentials { self.fields[name] = nil } }
        // RFC 9110 §9.3.1: content of a GET has no meaning, and its response would be stored under the URL alone.
        let hasBody = request.method != .get && request.method != .head
        body = hasBody ? request.body : nil
        bodyLength = hasBody ? request.bodyLength : nil
        isLoggedIn = request.credential?.isLoggedIn
        if let send = request.interim { interim = { send($0.forwardable) } }
        directives = RequestDirectives(request.headerFields)
    }

    /// Removes the fields that a mount with rewritten links does not forward.
    private static func limit(_ fields: inout HTTPFields, isLink: Bool, hasCredential: Bool) {
        if !isLink {
            // Links are read and replaced: the whole, in no coding.
            for name in [HTTPField.Name.range, .ifRange] { fields[name] = nil }
            fields[.acceptEncoding] = "identity"
        }
        if !hasCredential, !fields.contains(.authorization) {
            // A response that is stored without a user, or for a cookie, would remain when its account is logged out.
            fields[.cookie] = nil
            fields[.cacheControl] = "no-store"
        }
    }

    private static func hashingCredentials(of fields: HTTPFields, _ hasher: CredentialHasher) -> HTTPFields {
        var hashed = fields
        for name in ForwardedFields.credentials {
            hashed[values: name] = fields[values: name].map { hasher.hash($0).text }
        }
        return hashed
    }

    private static func credential(in fields: HTTPFields, _ hasher: CredentialHasher) -> CredentialHash {
        let lines = ForwardedFields.credentials.flatMap { name in
            fields[values: name].map { "\(name.canonicalName): \($0)" }
        }
        return hasher.hash(lines.joined(separator: "\n"))
    }

    /// Returns the fields with the credentials that the upstream gets.
    private static func authorized(_ fields: HTTPFields, for request: MountRequest, _ options: MountOptions)
        -> HTTPFields
    {
        var fields = fields
        // A shared response must not depend on the client, and the client's credentials are not for this upstream,
        // unless the operator names `Authorization`. RFC 9111 §3.5 says which responses to such requests may be shared.
        let isNamed = options.shared && options.requestFields.contains { $0.name == .authorization }
        if options.shared || request.credential != nil {
            for name in ForwardedFields.credentials where !isNamed || name != .authorization { fields[name] = nil }
        }
        if !options.shared, let own = request.credential { fields[.authorization] = own.authorization }
        // RFC 9110 §7.6.3: a gateway names itself in forwarded messages.
        fields.append(HTTPField(name: .via, value: "1.1 larder"))
        return fields
    }

    /// Whether it may be served from the store.
    var readsStore: Bool { cacheKeyRequest.method == .get || cacheKeyRequest.method == .head }

    /// Whether another client's response would do as well: a plain GET. RFC 9111 §4 allows such requests to be
    /// collapsed.
    var mayCollapse: Bool {
        let own: [HTTPField.Name] = [
            .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl,
            .authorization, .cookie,
        ]
        return cacheKeyRequest.method == .get && body == nil && !directives.noCache
            && !own.contains { cacheKeyRequest.headerFields.contains($0) }
    }

    /// Whether the client asks for a response from the network.
    var requiresRevalidation: Bool { directives.noCache || directives.maxAge == 0 }

    /// Identifies requests that can be collapsed.
    var flightKey: MountFlights.Key { MountFlights.Key(url: key, credential: credential) }

    /// The same for the whole representation.
    var withoutRange: ProxiedRequest { without([.range, .ifRange]) }

    /// The same without preconditions that a 304 responds to.
    var unconditional: ProxiedRequest { without([.ifNoneMatch, .ifModifiedSince]) }

    /// The same for no client: its response is only stored.
    var unattended: ProxiedRequest {
        var other = self
        other.interim = nil
        return other
    }

    /// The same without these fields.
    private func without(_ names: [HTTPField.Name]) -> ProxiedRequest {
        var other = self
        for name in names {
            other.cacheKeyRequest.headerFields[name] = nil
            other.fields[name] = nil
        }
        return other
    }
}

/// Selects the request fields that a mount forwards.
///
/// It lists the fields that may pass, since no list of forbidden ones is complete. Upstreams and their frameworks obey
/// fields such as `X-Forwarded-Host`, `X-Original-URL` and `X-HTTP-Method-Override` without naming them in `Vary`. With
/// them, one client could shape the response that is stored for all, or send another method than the mount allows.
enum ForwardedFields {
    /// Fields of RFC 9110, 9111 and 7240 whose meaning upstream and cache share.
    private static let standard: Set<HTTPField.Name> = [
        .accept, .acceptCharset, .acceptEncoding, .acceptLanguage,
        .cacheControl, .pragma,
        .contentEncoding, .contentLanguage, .contentLocation, .contentRange, .contentType, .lastModified,
        .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .range,
        .maxForwards, .prefer, .userAgent, .via,
    ]
    /// Fields that identify the client. They are forwarded by a mount that is not shared.
    static let credentials: [HTTPField.Name] = [.authorization, .cookie]

    /// Returns the fields of a client's request that concern the upstream, the client's credentials included.
    static func selected(from fields: HTTPFields, and named: [HTTPField.Name]) -> HTTPFields {
        var fields = fields
        HopByHop.remove(from: &fields)
        fields.removeAll {
            !standard.contains($0.name) && !credentials.contains($0.name) && !named.contains($0.name)
        }
        return fields
    }

    /// Adds to the `Vary` of a response the fields by which the operator has it stored.
    static func addKeys(to fields: inout HTTPFields, _ options: MountOptions) {
        let keys = options.requestFields.filter(\.isKey).map(\.name.rawName)
        if !keys.isEmpty { fields.append(HTTPField(name: .vary, value: keys.joined(separator: ", "))) }
    }
}

/// The reason to send a request to the upstream, and the stored response that it validates.
struct ForwardPlan: Sendable, Equatable {
    /// The reason, as in `Cache-Status`.
    let reason: CacheStatus.Forward
    /// The validation of a stored response; nil if nothing stored helps.
    let validation: Validation?

    init(_ reason: CacheStatus.Forward) {
        self.reason = reason
        validation = nil
    }

    init(_ validation: Validation) {
        reason = validation.reason
        self.validation = validation
    }

    /// The step that sends the request.
    var step: ProxyStep { validation.map(ProxyStep.validate) ?? .forward(reason) }
}

/// The response of a mount: the upstream's own head with the fields of the cache, and the body in memory or as it
/// arrives.
package struct ProxyResponse: Sendable {
    package enum Body: Sendable {
        case none
        case bytes(ByteBuffer)
        /// In parts; `length` in bytes if it is known.
        case stream(ByteStream, length: Int?)
    }

    package var head: HTTPResponse
    package var body: Body
    /// Holds while the same request would get the same response; nil for one that must not be cached as bytes.
    package var changeToken: ChangeToken?

    package init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }
}

extension HTTPField.Name {
    /// `Larder-Offline: ?1` (a boolean of RFC 9651): the upstream cannot be reached, and the response is a stored one.
    static let larderOffline = HTTPField.Name(literal: "Larder-Offline")
}

/// A response of the upstream whose head has arrived, with the times that its age is counted from (RFC 9111 §4.2.3).
struct ForwardedResponse: Sendable {
    /// Status, header fields and body.
    let response: StreamedResponse
    let requestTime: Date
    let responseTime: Date
    /// Holds until a write invalidates its URL that was processed after this request was sent: the response may be
    /// older than the write.
    var uninvalidated: ChangeToken

    /// Status and header fields, `Connection` included.
    var head: HTTPResponse { HTTPResponse(status: response.status, headerFields: response.headerFields) }
    /// Announced length of the body in bytes.
    var announced: Int? { response.headerFields[.contentLength].flatMap { Int($0) } }
    /// Whether a later write has invalidated its URL.
    var isSuperseded: Bool { !uninvalidated.holds(at: .distantPast) }
}

extension StreamedResponse {
    /// The same with 502 in place of a status from 600 to 999: RFC 9110 §15 has them processed as 5xx, and a gateway
    /// may not forward them.
    var withValidStatus: StreamedResponse {
        guard status.code >= 600 else { return self }
        var response = self
        response.status = .badGateway
        return response
    }

    /// The same without fields that only Larder sends: to its clients, or within the process.
    var withoutOwnFields: StreamedResponse {
        var response = self
        response.headerFields.removeOwn()
        return response
    }
}

extension HTTPResponse {
    /// The interim response to pass on: without fields of the connection to the upstream, and without those that only
    /// Larder sends.
    var forwardable: HTTPResponse {
        var response = self
        HopByHop.remove(from: &response.headerFields)
        response.headerFields.removeOwn()
        return response
    }
}

extension HTTPFields {
    fileprivate mutating func removeOwn() { removeAll { $0.name.canonicalName.hasPrefix("larder-") } }
}
