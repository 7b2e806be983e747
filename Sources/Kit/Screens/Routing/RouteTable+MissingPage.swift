import HTTPSemantics
public import HTTPTypes

extension RouteTable {
    /// Makes a page for the request of a browser; nil if there is none.
    public typealias MissingPage = @Sendable (HTTPRequest) -> ScreenResponse?

    /// Returns the page of an address that has nothing, if the client would rather read HTML than JSON and the address
    /// is not one of the API; else nil.
    func missingPage(for request: HTTPRequest, path: String) -> ScreenResponse? {
        let isOfAPI = path == "/v1" || path.hasPrefix("/v1/")
        guard !isOfAPI, request.method == .get || request.method == .head else { return nil }
        let accepted = AcceptedMediaTypes(request.headerFields)
        guard let weight = accepted.explicitWeight(of: "text/html"), weight > accepted.weight(of: "application/json")
        else { return nil }
        return missingPage?(request)
    }
}
