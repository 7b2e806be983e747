package import Hummingbird

extension Problem {
    /// Returns the response of a server that has no routes to ask: in the language of the request, not kept.
    ///
    /// - Throws: `EncodingError`.
    package func response(to request: Request) throws -> Response {
        try Language.$current.withValue(Language(acceptedBy: request.headers, original: .english)) {
            try ScreenResponseRenderer.render(.problem(self, instance: request.uri.path), for: request.head)
        }
    }
}
