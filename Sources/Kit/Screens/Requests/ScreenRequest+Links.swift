import HTTPSemantics

extension ScreenRequest {
    /// Path and query for `links.self`: what requests the same again, so without `refresh`.
    package var selfLink: Link { link(replacing: [:]) }

    /// Parameters that request a single action, which a client that follows a link must not repeat, and the profile,
    /// which all links of the response name (``Link``).
    private static let omittedParameters: [String: String?] = ["refresh": nil, "replace": nil, "profile": nil]

    /// Returns path and query with some parameters replaced, and those of value nil left out.
    ///
    /// - Parameter path: The path if it is not the request's own, as in the response to a write.
    package func link(replacing replaced: [String: String?], at path: Link? = nil) -> Link {
        let query = self.query.link(replacing: replaced.merging(Self.omittedParameters) { new, _ in new })
        let path = path ?? Link(encoded: PercentEncoding.encode(self.path, allowed: .encodedPath))
        return query.isEmpty ? path : "\(path)?\(Link(encoded: query))"
    }

    /// Returns `links` of a list: this page and the next.
    ///
    /// - Parameters:
    ///   - cursor: That of the last row (``PagedList/cursor(after:)``); nil if there is no row.
    ///   - path: The path of the list if it is not the request's own, as in the response to a write.
    package func links(for page: Page, next cursor: String?, at path: Link? = nil) -> Links {
        let next = page.hasMore ? cursor : nil
        return Links(
            self: link(replacing: [:], at: path),
            next: next.map { link(replacing: ["cursor": $0, "limit": String(page.limit), "offset": nil], at: path) }
        )
    }
}
