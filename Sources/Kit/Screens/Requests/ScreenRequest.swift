public import Foundation
import HTTPCaching
import HTTPSemantics
public import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
public import Upstream

/// A request as a screen sees it: everything about it that a handler may ask, and nothing of how it came.
public struct ScreenRequest: Sendable {
    /// Method; a HEAD arrives as the GET that it stands for.
    public let method: HTTPRequest.Method
    /// Whether the client wants the head of the response only.
    public let isHead: Bool
    /// Path, percent-encoded as it came, without the query.
    public let path: String
    /// The query.
    public let query: QueryItems
    /// Header fields.
    public let headerFields: HTTPFields
    /// Identity of the request in logs and in `X-Request-Id`.
    public let requestID: String
    /// Address of the client without its port, where it has one.
    public let clientAddress: String?
    /// Logger that knows the request's identity.
    public let logger: Logger
    /// The bearer token, read and hashed once.
    public let credential: BearerCredential

    private let parameters: [String: String]
    private let requestBody: RequestBody
    private let maximumBodyBytes: Int

    init(
        _ request: Request,
        context: ScreenContext,
        parameters: [String: String],
        credential: BearerCredential,
        maximumBodyBytes: Int
    ) {
        method = request.method == .head ? .get : request.method
        isHead = request.method == .head
        path = request.uri.path
        query = QueryItems(request.uri.query)
        headerFields = request.headers
        requestID = context.requestID
        clientAddress = context.clientAddress
        logger = context.logger
        self.credential = credential
        self.parameters = parameters
        requestBody = request.body
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// A part of the path by the name that the route gives it, percent-decoded. 404 if it is not UTF-8.
    public func parameter(_ name: String) throws -> String {
        guard let value = parameters[name] else { throw Problem.notFound("There is no \(name).") }
        return value
    }

    /// Returns how the request may be served from the cache: `?refresh=1`, `Cache-Control: no-cache` or `max-age=0`,
    /// `only-if-cached` (RFC 9111 §5.2.1).
    ///
    /// - Throws: 400 if `refresh` is not a switch.
    public func cachePolicy() throws -> CachePolicy {
        let directives = RequestDirectives(headerFields)
        if directives.onlyIfCached { return .onlyIfCached }
        return try query.flag("refresh") || directives.noCache || directives.maxAge == 0 ? .revalidate : .useCache
    }

    /// The body as it arrives, to be read once; who does not read on holds the client back. Its size is for the reader
    /// to limit.
    public var bodyStream: ByteStream { ByteStream(requestBody) }

    /// Bytes that the body is declared to have; nil where the client does not say.
    public var declaredBodyLength: Int? { headerFields.declaredContentLength }

    /// The whole body as bytes. 413 if it is larger than the route allows.
    public func body() async throws -> Data {
        do {
            let buffer = try await requestBody.collect(upTo: maximumBodyBytes)
            return Data(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Problem(.tooLarge, "The body may have \(maximumBodyBytes) bytes at the most.")
        }
    }

    /// The body as a JSON object, its fields to be read one by one. 400 `malformed-json` if it is none, 415 if it is
    /// declared to be something else.
    public func jsonObject() async throws -> JSONFields {
        try JSONFields(try await jsonBody())
    }

    /// The same where a body may be left out: nil for an empty one.
    public func optionalJSONObject() async throws -> JSONFields? {
        let body = try await jsonBody()
        return body.isEmpty ? nil : try JSONFields(body)
    }

    private func jsonBody() async throws -> Data {
        if let type = headerFields[.contentType] {
            let essence = ParameterizedValue.essence(of: type)
            guard
                essence == "application/json" || essence.hasSuffix("+json")
                    || essence == "application/x-www-form-urlencoded"
            else {
                throw Problem(.unsupportedMediaType, "\(essence) is not accepted here; accepted: application/json.")
            }
        }
        return try await body()
    }

    /// Path and query of this response for `links.self`: what asks for the same again, so without `refresh`.
    public var selfLink: String { link(replacing: [:]) }

    /// Parameters that ask for something to be done once: whoever follows a link must not do it again.
    private static let oneTimeParameters: [String: String?] = ["refresh": nil, "replace": nil]

    /// The same path and query with some parameters replaced, for `links.next`.
    public func link(replacing replaced: [String: String]) -> String {
        let query = self.query.link(
            replacing: replaced.mapValues { $0 as String? }.merging(Self.oneTimeParameters) { new, _ in new }
        )
        return PercentEncoding.encode(path, allowed: .encodedPath) + (query.isEmpty ? "" : "?\(query)")
    }

    /// `links` of a list: this part and the next.
    public func links(for page: Page) -> Links {
        Links(
            self: selfLink,
            next: page.nextOffset.map { link(replacing: ["offset": String($0), "limit": String(page.limit)]) }
        )
    }
}
