package import Concurrency
import Foundation
import HTTP
package import HTTPTypes
package import NIOCore

/// The response of a mount: the upstream's own head with the fields of the cache, and the body in memory or as it
/// arrives.
package struct ProxyResponse: Sendable {
    package enum Body: Sendable {
        case none
        /// In memory.
        case bytes(ByteBuffer)
        /// In parts; `length` in bytes if it is known.
        case stream(ByteStream, length: Int?)
    }

    /// Status and header fields.
    package var head: HTTPResponse
    package var body: Body
    /// Holds while the same request would get the same response; nil for one that must not be cached as bytes.
    package var changeToken: ChangeToken?

    package init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }
}

extension HTTPField.Name {
    /// `Larder-Offline: ?1` (a boolean of RFC 9651): the upstream cannot be reached, this comes from the store.
    static let larderOffline = HTTPField.Name(literal: "Larder-Offline")
}

/// A response of the upstream whose head has arrived, with the times that its age is counted from (RFC 9111 §4.2.3).
struct ForwardedResponse: Sendable {
    /// Status, header fields and body.
    let response: StreamedResponse
    let requestTime: Date
    let responseTime: Date
    /// Holds until a write invalidates its URL that was processed after this request was sent: the response may be
    /// older than the write.
    var uninvalidated: ChangeToken

    /// Status and header fields, `Connection` included.
    var head: HTTPResponse { HTTPResponse(status: response.status, headerFields: response.headerFields) }
    /// Announced length of the body in bytes.
    var announced: Int? { response.headerFields[.contentLength].flatMap { Int($0) } }
    /// Whether a later write has invalidated its URL.
    var isSuperseded: Bool { !uninvalidated.holds(at: .distantPast) }
}

extension StreamedResponse {
    /// The same with 502 in place of a status from 600 to 999: RFC 9110 §15 has them processed as 5xx, and a gateway
    /// may not forward them.
    var withValidStatus: StreamedResponse {
        guard status.code >= 600 else { return self }
        var response = self
        response.status = .badGateway
        return response
    }

    /// The same without fields that only Larder sends: to its clients, or within the process.
    var withoutOwnFields: StreamedResponse {
        var response = self
        response.headerFields.removeOwn()
        return response
    }
}

extension HTTPResponse {
    /// The interim response to pass on: without fields of the connection to the upstream, and without those that only
    /// Larder sends.
    var forwardable: HTTPResponse {
        var response = self
        HopByHop.remove(from: &response.headerFields)
        response.headerFields.removeOwn()
        return response
    }
}

extension HTTPFields {
    fileprivate mutating func removeOwn() { removeAll { $0.name.canonicalName.hasPrefix("larder-") } }
}
