import Concurrency
package import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPServer
package import HTTPTypes
import Hummingbird
package import Logging
import NIOCore
package import Upstream

/// A request as a handler sees it.
package struct ScreenRequest: Sendable {
    /// Method; GET for HEAD.
    package let method: HTTPRequest.Method
    /// Whether the client wants the head of the response only.
    package let isHead: Bool
    /// Host and port that the request names (`Host`, RFC 9110 §7.2); nil if it names none.
    package let authority: String?
    /// Path without the query, percent-encoded as it arrived.
    package let path: String
    /// The query.
    package let query: QueryItems
    /// Header fields.
    package let headerFields: HTTPFields
    /// Identity of the request in logs and in `X-Request-Id`.
    package let requestID: String
    /// What limits by client count as one: its address, or the network of an IPv6 address. Nil if it has none.
    package var clientAddress: String? { address?.client.description }
    /// Whether a GET may change what a user sees: not if it is a HEAD, and not if a page of another origin has made a
    /// browser send it.
    package let allowsEffects: Bool
    /// Logger that knows the request's identity.
    package let logger: Logger
    /// The tokens of sessions that it carries.
    package let credentials: SessionCredentials

    /// Whether the operator has sent it: a program of this machine, directly, or a client with the operator's key.
    let isOperator: Bool
    /// Identity of the paired device that has sent it; nil if none has, or it does not matter.
    let deviceID: String?
    /// The only profile that its device has; nil for any.
    let boundProfile: String?
    /// What its response is sent on.
    let channel: any Channel
    /// What its browser may do with cookies.
    let browser: BrowserRules
    private let cookies: SessionCookies
    private let address: IPAddress?
    private let presence: ClientPresence
    private let parameters: [String: String]
    /// What its route takes.
    let input: RouteInput
    private let requestBody: RequestBody
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
        path = request.uri.path
        query = QueryItems(request.uri.query)
        headerFields = request.headers
        requestID = context.requestID
        address = context.clientAddress
        allowsEffects = context.allowsEffects && !isHead
        logger = context.logger
        browser = context.browser
        (isOperator, deviceID, boundProfile) = (context.isOperator, context.deviceID, context.boundProfile)
        channel = context.channel
        cookies = sessions.cookies
        credentials = SessionCredentials(request.headers, cookies: browser.sendsCookies ? cookies : nil)
        presence = context.annotations.presence
        self.parameters = parameters
        requestBody = request.body
        self.input = input
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Runs work in a task that is cancelled if the client disconnects before the response.
    ///
    /// - Throws: `CancellationError` if it does; what `body` throws.
    package func whileClientWaits<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        try await presence.whilePresent(body)
    }

    /// Returns a field that gives the client a cookie of this server.
    ///
    /// - Parameters:
    ///   - age: Seconds until it is forgotten; nil when the browser is closed.
    ///   - path: The beginning of the paths that it is sent to.
    func setCookie(_ name: String, _ value: String, age: Int?, path: String = "/v1") -> HTTPField {
        let line = cookies.line(name, value, age: age, path: path, isSecure: browser.isSecure)
        return HTTPField(name: .setCookie, value: line)
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
    ///   take, 413 if it is too large, 415 if it is not declared to be JSON.
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
