package import Freshness
package import HTTPTypes
import Upstream

extension ScreenResponse {
    /// Returns a screen of data that has no upstream, in its envelope.
    ///
    /// - Parameters:
    ///   - content: `data` of the envelope.
    ///   - screen: Name of the screen, `app.screen`.
    ///   - request: The request, for `links.self`.
    ///   - state: State of the screen.
    ///   - status: Status of the response.
    ///   - revision: Version of the data, if the screen counts versions.
    ///   - selfLink: `links.self` if it is not the request's own target, as in the response to a write.
    ///   - headerFields: Further header fields.
    ///   - changeToken: For how long the same request has the same response; nil for writes.
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
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .local(
            content,
            Meta(screen: screen, state: state, provenance: .local, revision: revision),
            Links(self: selfLink ?? request.selfLink),
            status: status,
            headerFields: headerFields,
            changeToken: changeToken
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
}
