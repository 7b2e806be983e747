import Foundation
import Freshness
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Screens
import Upstream

extension ScreenResponse {
    /// A screen of the app: local data of a profile.
    ///
    /// - Parameter created: the address of what the request has created; the status is 201 then.
    static func pdf(
        _ content: some Encodable & Sendable,
        _ name: String,
        state: ScreenState = .content,
        created: String? = nil,
        page: Page? = nil,
        revision: Int? = nil,
        links: Links,
        changeToken: ChangeToken? = nil,
        now: Date
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(
                data: content,
                meta: Meta(screen: name, state: state, provenance: .local, revision: revision, page: page),
                links: links
            ),
            status: created == nil ? .ok : .created,
            provenance: .local,
            now: now,
            headerFields: created.map { [.location: $0] } ?? [:],
            changeToken: changeToken
        ).byProfile()
    }

    /// A document in the reader, with its version in the entity tag. The response to a change carries the tag that a
    /// GET would have now (RFC 9110 §8.8).
    static func reader(_ document: Document, isNew: Bool = false, changeToken: ChangeToken? = nil, now: Date) throws
        -> ScreenResponse
    {
        let href = DocumentScreen.href(document.id)
        var response = try pdf(
            DocumentScreen(document),
            "pdf.reader",
            created: isNew ? href : nil,
            links: Links(self: href),
            // A draft expires by time, which no change token tells.
            changeToken: document.isDraft ? nil : changeToken,
            now: now
        )
        response.version = String(document.version)
        if case .bytes(let bytes, _) = response.body {
            response.headerFields[.eTag] = EntityTag.strong(for: bytes, version: String(document.version))
        }
        return response
    }

    /// The response to a change that tells more of a document than the reader does; it carries the reader's entity tag.
    static func changed(
        _ document: Document,
        as content: some Encodable & Sendable,
        _ name: String,
        now: Date
    ) throws -> ScreenResponse {
        let href = DocumentScreen.href(document.id)
        var response = try pdf(content, name, created: href, links: Links(self: href), now: now)
        response.headerFields[.eTag] = try reader(document, now: now).headerFields[.eTag]
        return response
    }
}
