package import Foundation
package import Freshness
import HTTPCaching
import HTTPSemantics
package import HTTPTypes
package import HummingbirdCore
import Upstream

/// The response of a handler. `ScreenResponseRenderer` adapts it to the request: conditional requests, HEAD, gzip.
package struct ScreenResponse: Sendable {
    /// The body of a response.
    package enum Body: Sendable {
        /// Bytes of a media type.
        case bytes(Data, type: String)
        /// Bytes whose compressed form and entity tags are made already.
        case prepared(PreparedBytes)
        /// Written in pieces; never compressed, without an ETag.
        case stream(type: String, ResponseBody)
        /// No body.
        case none
    }

    /// Status.
    package var status: HTTPResponse.Status
    /// Header fields other than those of the body.
    package var headerFields: HTTPFields
    /// Body.
    package var body: Body
    /// Whether the response has an ETag and may become a 304.
    package var hasValidator: Bool
    /// Version of the one thing that the response shows, for its ETag, which `If-Match` of a later change is compared
    /// with; nil if it shows several.
    package var version: String?
    /// How long the same request has the same response, apart from its age; nil if that is not known.
    package var changeToken: ChangeToken?

    /// Creates a response.
    package init(
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        body: Body,
        hasValidator: Bool = true,
        changeToken: ChangeToken? = nil
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.hasValidator = hasValidator
        self.changeToken = changeToken
    }

    /// Returns a screen in its envelope (docs/contract.md, "Freshness").
    /// - Parameters:
    ///   - now: determines `Age`
    ///   - changeToken: how long the response may be repeated
    /// - Throws: `EncodingError`.
    package static func screen<Content>(
        _ envelope: Envelope<Content>,
        status: HTTPResponse.Status = .ok,
        provenance: Provenance,
        now: Date,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        var response = try screen(envelope, status: status, headerFields: headerFields, changeToken: changeToken)
        response.headerFields.add(provenance, now: now)
        return response
    }

    /// A screen in its envelope, with the header fields that every screen has.
    static func screen<Content>(
        _ envelope: Envelope<Content>,
        status: HTTPResponse.Status,
        headerFields: HTTPFields,
        changeToken: ChangeToken?
    ) throws -> ScreenResponse {
        var fields = headerFields
        fields[.cacheControl] = "private, no-cache"
        fields[.contentLanguage] = Language.current.rawValue
        fields[.vary] = "Authorization, Cookie, Accept-Language, Accept-Encoding"
        return ScreenResponse(
            status: status,
            headerFields: fields,
            body: .bytes(try WireFormat.encode(envelope), type: MediaType.json),
            changeToken: changeToken
        )
    }
}

extension HTTPFields {
    /// Adds `Cache-Status` (RFC 9211) and `Age` (RFC 9111 §5.1) to the response of something that has an upstream.
    package mutating func add(_ provenance: Provenance, now: Date) {
        guard let cacheStatus = provenance.cacheStatus else { return }
        self[.cacheStatus] = cacheStatus.member(of: "larder")
        guard let age = provenance.age(at: now) else { return }
        self[.age] = "\(provenance.isValidatedNow ? 0 : age)"
    }
}

extension HTTPField.Name {
    /// `X-Request-Id`: the request's identity, as in the logs.
    package static let requestID = HTTPField.Name(literal: "X-Request-Id")
    /// `X-Content-Type-Options`, Fetch Standard: browsers do not guess another type.
    package static let contentTypeOptions = HTTPField.Name(literal: "X-Content-Type-Options")
}
