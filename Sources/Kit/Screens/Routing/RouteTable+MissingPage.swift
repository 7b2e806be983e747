import HTTPSemantics
package import HTTPTypes

extension RouteTable {
    /// Makes a page for the request of a browser; nil if there is none.
    package typealias MissingPage = @Sendable (HTTPRequest) -> ScreenResponse?

    /// Returns the page that a browser gets in place of an error, if the client would rather read HTML than JSON and
    /// the address is not one of the API; else nil.
    ///
    /// - Parameter status: That of the error's response.
    func page(inPlaceOf error: any Error, _ status: HTTPResponse.Status, for request: HTTPRequest, path: String)
        -> ScreenResponse?
    {
        if let problem = error as? Problem, problem.code == .pairingRequired {
            return page(pairingPage, for: request, path: path)
        }
        return status == .notFound ? page(missingPage, for: request, path: path) : nil
    }

    private func page(_ make: MissingPage?, for request: HTTPRequest, path: String) -> ScreenResponse? {
        guard let make else { return nil }
        let isOfAPI = path == "/v1" || path.hasPrefix("/v1/")
        guard !isOfAPI, request.method == .get || request.method == .head else { return nil }
        let accepted = AcceptedMediaTypes(request.headerFields)
        guard let weight = accepted.explicitWeight(of: "text/html"), weight > accepted.weight(of: "application/json")
        else { return nil }
        return make(request)
    }
}
