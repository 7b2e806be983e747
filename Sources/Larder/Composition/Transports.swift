import NIOPosix
import Upstream

/// One HTTP client for each connect timeout that an upstream has: a client has one for all of its connections.
struct Transports: Sendable {
    private let byTimeout: [Duration: HTTPClientTransport]

    init(_ connectTimeouts: some Sequence<Duration>) {
        byTimeout = Dictionary(
            uniqueKeysWithValues: Set(connectTimeouts).map {
                ($0, HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: $0))
            }
        )
    }

    subscript(connectTimeout: Duration) -> HTTPClientTransport? { byTimeout[connectTimeout] }

    /// Closes all connections.
    /// - Throws: the errors of async-http-client.
    func shutdown() async throws {
        for transport in byTimeout.values { try await transport.shutdown() }
    }
}
