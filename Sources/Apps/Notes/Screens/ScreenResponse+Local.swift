import Foundation
import Freshness
import HTTPTypes
import Screens
import Upstream

extension ScreenResponse {
    /// A screen of local data, which has no upstream.
    static func local(
        _ content: some Encodable & Sendable,
        _ meta: Meta,
        _ links: Links,
        status: HTTPResponse.Status = .ok,
        headerFields: HTTPFields = [:],
        changeToken: ChangeToken? = nil,
        now: Date
    ) throws -> ScreenResponse {
        try .screen(
            Envelope(data: content, meta: meta, links: links),
            status: status,
            provenance: .local,
            now: now,
            headerFields: headerFields,
            changeToken: changeToken
        )
    }
}
