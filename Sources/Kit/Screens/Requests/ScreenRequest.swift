package import Concurrency
package import Foundation
import HTTP
package import HTTPTypes
package import Hummingbird
package import Logging
package import NIOCore
package import Server
package import Upstream

/// A request for a handler.
package struct ScreenRequest: Sendable {
    /// Method; GET for HEAD.
    package let method: HTTPRequest.Method
    /// Whether the client wants the head of the response only.
    package let isHead: Bool
    /// Host and port that the request names (`Host`, RFC 9110 §7.2); nil if it names none.
    package let authority: String?
    /// Path without the query, percent-encoded as it arrived.
    package let path: String
    package let query: QueryItems
    package let headerFields: HTTPFields
    /// Identity of the request in logs and in `X-Request-Id`.
    package var requestID: String { context.requestID }
    /// The client as limits count it: its address, or the network of an IPv6 address. Nil if it has none.
    package var clientAddress: String? { context.clientAddress?.client.description }
    /// Whether a GET may change data of a user: not if it is a HEAD, and not if a page of another origin has made a
    /// browser send it.
    package var allowsEffects: Bool { context.allowsEffects && !isHead }
    /// Logger that knows the request's identity.
    package var logger: Logger { context.logger }
    /// The tokens of sessions that it carries.
    package let credentials: SessionCredentials

    let context: ScreenContext
    let cookies: SessionCookies
    private let parameters: [String: String]
    let input: RouteInput
    private var requestBody: RequestBody
    /// The request with its `Idempotency-Key`; nil if it has none.
    private(set) var keyed: KeyedRequest?
    private let maximumBodyBytes: Int

    init(
        _ request: Request,
        context: ScreenContext,
        parameters: [String: String],
        sessions: SessionStore,
        input: RouteInput,
        maximumBodyBytes: Int
    ) {
        method = request.method == .head ? .get : request.method
        isHead = request.method == .head
        authority = request.head.authority
        (path, target) = (request.uri.path, request.head.path ?? request.uri.path)
        query = QueryItems(request.uri.query)
        headerFields = request.headers
        self.context = context
        cookies = sessions.cookies
        credentials = SessionCredentials(request.headers, cookies: context.browser.sendsCookies ? cookies : nil)
        self.parameters = parameters
        requestBody = request.body
        self.input = input
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Path and query, as they arrived.
    let target: String

    /// Returns the request without its `Idempotency-Key`, for one of several changes that it makes.
    package var unkeyed: ScreenRequest {
        var request = self
        request.keyed = nil
        return request
    }

    /// Returns the request with its key, which records the HMAC of the body while the body is read.
    func keyed(by keyed: KeyedRequest) -> ScreenRequest {
        var request = self
        request.keyed = keyed
        request.requestBody = RequestBody(asyncSequence: DigestedBody(body: requestBody, keyed: keyed))
        return request
    }

    /// Runs work in a task that is cancelled if the client disconnects before the response.
    ///
    /// - Throws: `CancellationError` if it does; errors of `body`.
    package func whileClientWaits<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await context.annotations.presence.whilePresent(body)
    }

    /// Returns a path parameter, percent-decoded.
    /// - Throws: 404 if the route has no such parameter.
    package func parameter(_ name: String) throws -> String {
        guard let value = parameters[name] else { throw Problem.notFound("There is no \(name).") }
        return value
    }

    /// Returns how the request may be served from the cache: `?refresh=1`, `Cache-Control: no-cache` or `max-age=0`,
    /// `only-if-cached` (RFC 9111 §5.2.1).
    ///
    /// - Throws: 400 if `refresh` is not a switch.
    package func cachePolicy() throws -> CachePolicy {
        let directives = RequestDirectives(headerFields)
        if directives.onlyIfCached { return .onlyIfCached }
        return try query.flag("refresh") || directives.noCache || directives.maxAge == 0 ? .revalidate : .useCache
    }

    /// The body as it arrives, to be read once. A reader that pauses slows the client down; limiting the size is up to
    /// the reader.
    var bodyStream: ByteStream { ByteStream(requestBody) }

    /// Declared length of the body in bytes; nil if the client does not declare one.
    package var declaredBodyLength: Int? { headerFields.declaredContentLength }

    /// Returns the whole body.
    /// - Throws: 413 if it is larger than the route allows; without reading it if its declared length is.
    package func body() async throws -> Data {
        guard declaredBodyLength ?? 0 <= maximumBodyBytes else { throw tooLarge }
        do {
            let buffer = try await requestBody.collect(upTo: maximumBodyBytes)
            return Data(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }

    private var tooLarge: Problem { Problem(.tooLarge, "The body may have \(maximumBodyBytes) bytes at most.") }

    /// Returns the body as a JSON object.
    ///
    /// - Parameter other: another media type that the route accepts, for the error.
    /// - Throws: 400 `malformed-json` if it is none, 400 `malformed-request` if it has a member that the route does not
    ///   take. 413 if it is too large, 415 if it is not declared to be JSON.
    package func jsonObject(or other: String? = nil) async throws -> JSONFields {
        try requireJSON(or: other)
        return try fields(of: try await body())
    }

    /// Returns the body as a JSON object; nil if it is empty.
    /// - Throws: as `jsonObject()`, except for an empty body.
    package func optionalJSONObject() async throws -> JSONFields? {
        try requireJSON()
        let body = try await body()
        return body.isEmpty ? nil : try fields(of: body)
    }

    private func fields(of body: Data) throws -> JSONFields {
        let fields = try JSONFields(body)
        try input.check(fields)
        return fields
    }
}

extension ScreenRequest {
    /// Refuses content that cannot be taken as it arrives.
    ///
    /// - Throws: ``Problem`` 400 if a PUT has `Content-Range`: a part taken as the whole would destroy the rest (RFC
    ///   9110 §14.5). ``Problem`` 415 if content is compressed (§15.5.16): no route decodes it.
    func requireWholeContent() throws(Problem) {
        guard [.post, .put, .patch].contains(method) else { return }
        if method == .put, headerFields[.contentRange] != nil {
            throw Problem.invalidParameter("Content-Range", accepted: "is not accepted: the whole is sent")
        }
        let codings = headerFields[values: .contentEncoding].flatMap { FieldList.members(of: $0) }
        if let coding = codings.first(where: { $0.lowercased() != "identity" }) {
            throw Problem(
                .unsupportedMediaType,
                "Content-Encoding \(coding) is not accepted here; accepted: identity.",
                headerFields: [.acceptEncoding: "identity"]
            )
        }
    }

    /// Returns the body as the content of a file, to be read once; limiting its size is up to the reader.
    ///
    /// A form would be stored with its envelope. That of `curl -d` has none, but curl removes line ends from it, which
    /// nobody would notice.
    ///
    /// - Throws: ``Problem`` 415 for a form, which says how to send it.
    package func fileContent() throws(Problem) -> ByteStream {
        let type = headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        guard let type, type == "multipart/form-data" || type == "application/x-www-form-urlencoded" else {
            return bodyStream
        }
        throw Problem(
            .unsupportedMediaType,
            "A form (\(type)) is not accepted here; accepted: the bytes of the file alone, with its own Content-Type, "
                + "application/octet-stream or none. curl sends them with -T FILE."
        )
    }

    /// Refuses content that is not declared to be JSON.
    ///
    /// A program may leave the declaration out or send that of a form, as `curl -d` does. A page may not: content
    /// without one, or a form or text, can be sent to any origin without a preflight (Fetch Standard, CORS-safelisted
    /// request-header).
    ///
    /// - Parameter other: another media type that the route accepts, for the error.
    /// - Throws: ``Problem`` 415 that says how to send it.
    func requireJSON(or other: String? = nil) throws(Problem) {
        let type = headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        if let type, type == "application/json" || type.hasSuffix("+json") { return }
        let hasContent = headerFields[.transferEncoding] != nil || declaredBodyLength ?? 0 > 0
        if type == nil, !hasContent { return }
        let isOfPage = OriginRules.isOfBrowser(headerFields)
        if !isOfPage, type == nil || type == "application/x-www-form-urlencoded" { return }
        let accepted = (["application/json"] + [other].compactMap(\.self)).joined(separator: ", ")
        throw Problem(
            .unsupportedMediaType,
            "\(type ?? "A body without a type") is not accepted here\(isOfPage ? " from a page" : ""); accepted: "
                + "\(accepted). JSON is sent with the header field Content-Type: application/json."
        )
    }
}

/// The context of a request in Hummingbird: its identity and its source.
package struct ScreenContext: RequestContext {
    /// Hummingbird's own part.
    package var coreContext: CoreRequestContextStorage
    /// Identity of the request; set before anything else sees the request.
    package var requestID: String
    /// Address of the client: that of the connection, unless a trusted proxy names another. Nil if it has none.
    package var clientAddress: IPAddress?
    /// Address of the connection's other end, whatever fields say; nil if it has none.
    package internal(set) var peerAddress: IPAddress?
    /// The channel of the response: that of the connection, or of the stream.
    package let channel: any Channel
    /// Whether the operator has sent the request: a program of this machine, directly, or a client with the operator's
    /// key (docs/decisions/0141).
    var isOperator = false
    /// Identity of the paired device that has sent it; nil if none has, or it does not matter.
    var deviceID: String?
    /// The only profile that its device has; nil for any.
    var boundProfile: String?
    /// Whether the request may change data of a user, whatever its method.
    var allowsEffects = false
    /// The rules of its browser for cookies.
    var browser = BrowserRules()
    /// Facts about the response for the connection. Shared by the copies of this context.
    let annotations: ResponseAnnotations

    /// Called by Hummingbird for every request.
    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        requestID = ""
        annotations = ResponseAnnotations.ofConnection ?? ResponseAnnotations()
        channel = source.channel
        peerAddress = source.channel.remoteAddress.flatMap(IPAddress.init)
        clientAddress = peerAddress
    }
}
