import HTTPTypes
import ResponseStore

/// What ``UpstreamClient`` reads and changes of a request, whatever its body.
protocol OutgoingMessage: Sendable {
    var method: HTTPRequest.Method { get }
    var url: String { get set }
    var headerFields: HTTPFields { get set }
    /// The account for which it is sent, if the API limits requests by account.
    var credential: CredentialHash? { get }
    /// Whether it is for a picture, whose failures say nothing of the API.
    var isPicture: Bool { get }
}

/// What ``UpstreamClient`` reads of a response, whatever its body.
protocol IncomingMessage: Sendable {
    var status: HTTPResponse.Status { get }
    var headerFields: HTTPFields { get }
}

extension IncomingMessage {
    /// Status line and header fields.
    var head: HTTPResponse { HTTPResponse(status: status, headerFields: headerFields) }
}

extension OutgoingRequest: OutgoingMessage {}
extension StreamedRequest: OutgoingMessage {
    var isPicture: Bool { false }
}
extension IncomingResponse: IncomingMessage {}
extension StreamedResponse: IncomingMessage {}
