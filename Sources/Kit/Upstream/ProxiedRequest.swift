import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Storage

/// A request below a mount, in the forms in which it is judged, stored and sent.
struct ProxiedRequest: Sendable {
    /// Fields that say who asks.
    private static let credentialFields: [HTTPField.Name] = [.authorization, .cookie]

    /// Absolute URL, as it is sent.
    let url: String
    /// The same as a key of the store.
    let key: String
    /// The request as the rules of caching see it: hop-by-hop fields removed, credentials replaced by their hashes, so
    /// that whatever of it is kept beside a response (`Vary`) tells nobody a secret.
    private(set) var cacheKeyRequest: HTTPRequest
    /// Header fields to send.
    private(set) var fields: HTTPFields
    /// Whose responses may be used; nil: anybody's.
    let credential: CredentialHash?
    let body: ByteStream?
    let bodyLength: Int?
    let directives: RequestDirectives
    /// Whether Larder brings along a token of the account that asks.
    let isOnBehalf: Bool

    init(_ request: MountRequest, to upstream: UpstreamConfiguration, hasher: CredentialHasher) throws(UpstreamError) {
        url = upstream.url(of: request.encodedTarget)
        guard MountRequest.isBelowBase(request.target), let key = TargetURI.normalized(url) else {
            throw .forbiddenTarget("a path outside of its API")
        }
        self.key = key
        var fields = request.headerFields
        HopByHop.remove(from: &fields)
        // RFC 9110 §11.7.2: meant for the first proxy; §10.1.1: answered by the connection already.
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
            // What says who asks goes to nobody who was not named as its addressee.
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

    /// Whether stored responses have to do with it at all.
    var readsStore: Bool { cacheKeyRequest.method == .get || cacheKeyRequest.method == .head }

    /// Whether another client's answer would do as well: a plain GET. RFC 9111 §4 lets such requests be collapsed.
    var mayCollapse: Bool {
        let own: [HTTPField.Name] = [
            .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .cacheControl,
            .authorization, .cookie,
        ]
        return cacheKeyRequest.method == .get && body == nil && !directives.noCache
            && !own.contains { cacheKeyRequest.headerFields.contains($0) }
    }

    /// Whether the client asked for the network.
    var requiresRevalidation: Bool { directives.noCache || directives.maxAge == 0 }

    /// The same without some fields.
    func without(_ names: [HTTPField.Name]) -> ProxiedRequest {
        var other = self
        for name in names {
            other.cacheKeyRequest.headerFields[name] = nil
            other.fields[name] = nil
        }
        return other
    }
}
