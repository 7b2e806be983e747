import AsyncHTTPClient
import Concurrency
import HTTPSemantics
import HTTPTypes
import NIOCore
import NIOHTTP1

// Translates requests and responses between Larder's types and async-http-client's, with the checks that the libraries
// leave to their callers.
extension HTTPClientTransport {
    /// Makes a request without its body. The library gets the origin of the URL, the guard the rest of it.
    ///
    /// - Throws: ``UpstreamError/forbiddenTarget(_:)`` if no connection can be made to the URL: nothing else keeps it
    ///   from NIO.
    static func request(
        _ method: HTTPRequest.Method,
        _ url: String,
        _ fields: HTTPFields,
        listener: Int = 0,
        within limits: TransportLimits
    ) throws(UpstreamError) -> HTTPClientRequest {
        let target: HTTPURL
        do throws(HTTPURL.Defect) {
            target = try HTTPURL(url)
        } catch {
            throw .forbiddenTarget(error.description)
        }
        var request = HTTPClientRequest(url: target.origin + "/")
        request.method = .init(rawValue: method.rawValue)
        for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
        GuardedRequest(
            target: target.requestTarget,
            stallLimit: .init(limits.stall),
            responseLimit: .init(limits.response),
            listener: listener
        ).add(to: &request.headers)
        return request
    }

    /// The status of a final response.
    ///
    /// - Throws: ``UpstreamError/badResponse(status:reason:)`` for a number that is none: `HTTPTypes` ends the process
    ///   above 999.
    static func status(of response: HTTPClientResponse) throws(UpstreamError) -> HTTPResponse.Status {
        guard (200...999).contains(response.status.code) else {
            throw .badResponse(status: nil, reason: "status \(response.status.code)")
        }
        return HTTPResponse.Status(code: Int(response.status.code), reasonPhrase: response.status.reasonPhrase)
    }

    /// Converts header fields. Those whose names are no tokens are left out.
    static func fields(_ headers: HTTPHeaders) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return fields
    }

    /// Returns the body of a response in parts. Reading it throws ``UpstreamError`` if the body is truncated, and
    /// `CancellationError`.
    static func body(of response: HTTPClientResponse, status: HTTPResponse.Status) -> ByteStream {
        ByteStream {
            var iterator = response.body.makeAsyncIterator()
            return {
                do {
                    return try await iterator.next()
                } catch {
                    try Task.checkCancellation()
                    throw whileReading(error, status: status)
                }
            }
        }
    }
}
