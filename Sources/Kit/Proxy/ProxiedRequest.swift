import Concurrency
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import ResponseStore
import Upstream

/// A request below a mount, in the forms in which it is decided on, stored and sent.
struct ProxiedRequest: Sendable {
    /// Fields that identify the client.
    private static let credentialFields: [HTTPField.Name] = [.authorization, .cookie]

    /// Absolute URL, as it is sent.
    let url: String
    /// The same as a key of the store.
    let key: String
    /// The request as the rules of caching see it: without hop-by-hop fields, and with hashes in place of credentials,
    /// so that no field that is stored with a response (`Vary`) contains a secret.
    private(set) var cacheKeyRequest: HTTPRequest
    /// Header fields to send.
    private(set) var fields: HTTPFields
    /// The credential whose responses may be used; nil for shared ones.
    let credential: CredentialHash?
    let body: ByteStream?
    let bodyLength: Int?
    let directives: RequestDirectives
    /// Whether Larder adds a token of the client's account.
    let isOnBehalf: Bool

    init(_ request: MountRequest, to upstream: UpstreamConfiguration, hasher: CredentialHasher) throws(UpstreamError) {
        url = upstream.url(of: request.encodedTarget)
        guard MountRequest.isBelowBase(request.target), let key = TargetURI.normalized(url) else {
            throw .forbiddenTarget("a path outside of its API")
        }
        self.key = key
        var fields = request.headerFields
        HopByHop.remove(from: &fields)
        // RFC 9110 §11.7.2: for the first proxy only; §10.1.1: the connection has responded to it already.
        for name in [HTTPField.Name.proxyAuthorization, .expect, .contentLength] { fields[name] = nil }

        var cacheKeyRequest = fields
        for name in Self.credentialFields {
            let lines = fields[values: name].map { hasher.hash($0).text }
            cacheKeyRequest[values: name] = lines
        }
        self.cacheKeyRequest = HTTPRequest(
            method: request.method,
            scheme: nil,
            authority: nil,
            path: nil,
            headerFields: cacheKeyRequest
        )
        if upstream.mount.shared {
            credential = nil
            // A shared response must not depend on the client, and its credentials are not for this upstream.
            for name in Self.credentialFields { fields[name] = nil }
        } else if let own = request.credential {
            for name in Self.credentialFields { fields[name] = nil }
            fields[.authorization] = own.authorization
            credential = own.identity
        } else {
            let lines = Self.credentialFields.flatMap { name in
                fields[values: name].map { "\(name.canonicalName): \($0)" }
            }
            credential = hasher.hash(lines.joined(separator: "\n"))
        }
        // RFC 9110 §7.6.3: a gateway names itself in what it forwards.
        fields.append(HTTPField(name: .via, value: "1.1 larder"))
        self.fields = fields
        body = request.body
        bodyLength = request.bodyLength
        isOnBehalf = request.credential != nil
        directives = RequestDirectives(request.headerFields)
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
