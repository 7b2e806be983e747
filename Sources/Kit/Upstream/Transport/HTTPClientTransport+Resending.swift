import AsyncHTTPClient
import HTTPTypes
import NIOCore

extension HTTPClientTransport {
    /// When a request may be sent again because its kept-alive connection was closed (RFC 9112 §9.3.1).
    enum Resending: Sendable {
        /// Its body can be read once.
        case never
        /// Its method is not idempotent: only if none of it was written.
        case ifNotSent
        /// Its method is idempotent.
        case ifUnanswered

        init(_ method: HTTPRequest.Method) {
            self = method.isIdempotent ? .ifUnanswered : .ifNotSent
        }

        /// Whether a request is sent again after an error.
        func applies(to error: any Error) -> Bool {
            switch (self, error) {
            case (.never, _): false
            case (.ifUnanswered, let error as ClosedConnection): error.isReused
            // The pool gave out a connection that was closed already. The guard reports all other closed connections.
            case (_, let error as HTTPClientError): error == .remoteConnectionClosed
            // The same, before the pool was notified (`HTTP1Connection.execute0`). The end of a body may fail like
            // this, too, so it does not prove that nothing was written.
            case (.ifUnanswered, let error as ChannelError): error == .ioOnClosedChannel
            default: false
            }
        }
    }

    /// Returns a configuration for requests that are sent again: each has a connection of its own.
    static func forResending(_ configuration: HTTPClient.Configuration) -> HTTPClient.Configuration {
        var configuration = forStreaming(configuration)
        configuration.maximumUsesPerConnection = 1
        return configuration
    }

    /// Sends a request, and once more on a new connection if it met one that its server had closed while it was idle.
    func execute(
        _ request: HTTPClientRequest,
        on client: HTTPClient,
        _ resending: Resending,
        within limits: TransportLimits
    ) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + .init(limits.total)
        do {
            return try await client.execute(request, deadline: deadline)
        } catch  where resending.applies(to: error) {
            return try await (limits.publicAddressesOnly ? publicFresh : fresh).execute(request, deadline: deadline)
        }
    }
}
