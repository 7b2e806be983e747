import Foundation
import Freshness
import HTTPSemantics
import HTTPTypes
import Screens

extension ScreenResponse {
    /// Returns a screen of the app: local data of a profile.
    ///
    /// - Parameters:
    ///   - created: the address of what the request has created; the status is 201 then.
    ///   - changeToken: for how long the same request has the same response; nil for writes.
    /// - Throws: `EncodingError`.
    static func pdf(
        _ content: some Encodable & Sendable,
        _ name: String,
        state: ScreenState = .content,
        created: Link? = nil,
        page: Page? = nil,
        revision: Int? = nil,
        links: Links,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        try .local(
            content,
            Meta(screen: name, state: state, provenance: .local, revision: revision, page: page),
            links,
            status: created == nil ? .ok : .created,
            headerFields: created.map { [.location: $0.requestTarget] } ?? [:],
            changeToken: changeToken
        ).byProfile()
    }

    /// Returns a document in the reader, with its version in the entity tag. The response to a change carries the tag
    /// that a GET would have now (RFC 9110 §8.8).
    ///
    /// - Throws: `EncodingError`.
    static func reader(
        _ document: Document,
        isNew: Bool = false,
        zone: TimeZone = .gmt,
        self link: Link? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let href = DocumentProperties.href(document.id)
        var response = try pdf(
            DocumentScreen(document, zone: zone),
            "pdf.reader",
            created: isNew ? href : nil,
            links: Links(self: link ?? href),
            // A draft expires by time, which no change token tells.
            changeToken: document.isDraft ? nil : changeToken
        )
        response.version = String(document.version)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(document.version))
        }
        return response
    }

    /// Returns the response to a change that tells more of a document than the reader does; it carries the reader's
    /// entity tag.
    ///
    /// - Throws: `EncodingError`.
    static func changed(_ document: Document, as content: some Encodable & Sendable, _ name: String) throws
        -> ScreenResponse
    {
        let href = DocumentProperties.href(document.id)
        var response = try pdf(content, name, created: href, links: Links(self: href))
        response.headerFields[.eTag] = try reader(document).headerFields[.eTag]
        return response
    }
}
