package import Concurrency
package import Foundation
package import HTTP
package import HTTPTypes
package import HummingbirdCore
import NIOCore
import Server
package import Storage
import Synchronization
package import Upstream

/// The response of a handler. `ScreenResponseRenderer` adapts it to the request: conditional requests, HEAD, gzip.
package struct ScreenResponse: Sendable {
    package enum Body: Sendable {
        /// Bytes of a media type.
        case bytes(Data, type: String)
        /// Bytes whose compressed form and entity tags are made already.
        case prepared(PreparedBytes)
        /// Written in pieces; never compressed, without an ETag.
        case stream(type: String, ResponseBody)
        case none
    }

    package var status: HTTPResponse.Status
    /// Header fields other than those of the body.
    package var headerFields: HTTPFields
    package var body: Body
    /// Whether the response has an ETag and may become a 304.
    package var hasValidator: Bool
    /// Version of the one thing that the response shows, for its ETag, which `If-Match` of a later change is compared
    /// with; nil if it shows several.
    package var version: String?
    /// How long the same request has the same response, apart from its age; nil if that is not known.
    package var changeToken: ChangeToken?

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
        var (envelope, fields) = (envelope, headerFields)
        ScreenForms.current.complete(&envelope)
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

extension ScreenResponse {
    /// Returns a screen of data that was read from an upstream, in its envelope.
    ///
    /// - Parameters:
    ///   - content: `data` of the envelope.
    ///   - screen: Name of the screen, `app.screen`.
    ///   - request: The request, for the links.
    ///   - result: The read, for the provenance of the data.
    ///   - now: Determines `Age`.
    ///   - page: The part of a list that the screen shows, and the cursor of its last row.
    ///   - changeToken: For how long data that is not of the upstream stays; nil if there is none.
    /// - Throws: `EncodingError`.
    package static func read(
        _ content: some Encodable & Sendable,
        _ screen: String,
        _ request: ScreenRequest,
        of result: ReadResult,
        now: Date,
        state: ScreenState = .content,
        revision: Int? = nil,
        banner: Banner? = nil,
        page: (shown: Page, next: String?)? = nil,
        variant: SearchVariant? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(
            screen: screen,
            state: state,
            provenance: result.provenance,
            revision: revision,
            banner: banner,
            page: page?.shown
        ).searched(variant)
        let links = page.map { request.links(for: $0.shown, next: $0.next) } ?? Links(self: request.selfLink)
        return try .screen(
            Envelope(data: content, meta: meta, links: links),
            provenance: result.provenance,
            now: now,
            changeToken: result.changeToken.map { token in changeToken.map(token.and) ?? token }
        )
    }

    /// Returns a screen of data that has no upstream, in its envelope.
    ///
    /// - Parameters:
    ///   - content: `data` of the envelope.
    ///   - screen: Name of the screen, `app.screen`.
    ///   - request: The request, for the links.
    ///   - state: State of the screen.
    ///   - status: Status of the response.
    ///   - revision: Version of the data, if the screen counts versions.
    ///   - selfLink: `links.self` if it is not the request's own target, as in the response to a write.
    ///   - headerFields: Further header fields.
    ///   - banner: The notification that the data may be out of date; nil if it is not.
    ///   - page: The part of a list that the screen shows, and the cursor of its last row.
    ///   - variant: The words that rows were searched for in place of those of a text; nil if they were those.
    ///   - changeToken: For how long the same request has the same response; nil for writes. Not used with a banner.
    /// - Throws: `EncodingError`.
    package static func local(
        _ content: some Encodable & Sendable,
        _ screen: String,
        _ request: ScreenRequest,
        state: ScreenState = .content,
        status: HTTPResponse.Status = .ok,
        revision: Int? = nil,
        selfLink: Link? = nil,
        headerFields: HTTPFields = [:],
        stale banner: Banner? = nil,
        page: (shown: Page, next: String?)? = nil,
        variant: SearchVariant? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let meta = Meta(
            screen: screen,
            state: state,
            provenance: Provenance(source: .local, stale: banner != nil),
            revision: revision,
            banner: banner,
            page: page?.shown
        ).searched(variant)
        return try .local(
            content,
            meta,
            page.map { request.links(for: $0.shown, next: $0.next) } ?? Links(self: selfLink ?? request.selfLink),
            status: status,
            headerFields: headerFields,
            changeToken: banner == nil ? changeToken : nil
        )
    }

    /// Returns a screen of data that has no upstream, with metadata and links of its own.
    ///
    /// - Throws: `EncodingError`.
    package static func local(
        _ content: some Encodable & Sendable,
        _ meta: Meta,
        _ links: Links,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(data: content, meta: meta, links: links),
            status: status,
            headerFields: headerFields,
            changeToken: changeToken
        )
    }

    /// Returns the response with the version of the one thing that it shows.
    package func at(version: Int) -> ScreenResponse {
        var response = self
        response.version = String(version)
        return response
    }
}

/// A body that is sent often: its entity tags are made once, and it is compressed once, for the first client that needs
/// it so. To compress all files of the front end takes a tenth of the server's start. Its responses share the bytes.
package final class PreparedBytes: Sendable {
    let body: ByteBuffer
    package let type: String
    private let gzip = Mutex<ByteBuffer?>(nil)
    private let tag: String
    private let tagOfCompressed: String

    package init(_ bytes: Data, type: String) {
        body = ByteBuffer(bytes: bytes)
        self.type = type
        tag = EntityTag.strong(for: bytes)
        tagOfCompressed = EntityTag.strong(for: bytes, variant: "gzip")
    }

    package var bytes: Data { Data(body.readableBytesView) }

    /// Returns the bytes in gzip; nil if that is not worth it.
    ///
    /// - Throws: `Gzip.Failure`.
    func compressedBody() throws -> ByteBuffer? {
        guard ScreenResponseRenderer.isCompressible(body.readableBytes, type) else { return nil }
        return try gzip.withLock { known in
            if let known { return known }
            let made = ByteBuffer(bytes: try Gzip.compress(bytes, level: 9))
            known = made
            return made
        }
    }

    func entityTag(isCompressed: Bool) -> String { isCompressed ? tagOfCompressed : tag }
}

extension HTTPFields {
    /// Adds to `Vary` that the response also depends on this field of the request (RFC 9110 §12.5.5).
    package mutating func vary(on name: HTTPField.Name) {
        let named = self[values: .vary].flatMap { FieldList.members(of: $0) }.map { $0.lowercased() }
        guard !named.contains(name.canonicalName), !named.contains("*") else { return }
        self[.vary] = self[.vary].map { "\($0), \(name.rawName)" } ?? name.rawName
    }
}
