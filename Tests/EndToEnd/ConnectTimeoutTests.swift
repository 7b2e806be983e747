import Foundation
import TestKit
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The time-out of connections is an upstream's own.
@Suite(.timeLimit(.minutes(10))) struct ConnectTimeoutTests {
    /// A port where connections are neither made nor refused: it listens, and its queue stays full.
    private final class FullPort: Sendable {
        let number: Int
        private let sockets: [Int32]

        init() throws {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    bind(listener, pointer, length) == 0 && listen(listener, 0) == 0
                        && getsockname(listener, pointer, &length) == 0
                }
            }
            try #require(isListening)
            number = Int(UInt16(bigEndian: address.sin_port))
            // More than its queue holds; none of them is ever accepted.
            sockets =
                [listener]
                + (0..<4).map { _ in
                    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                    _ = withUnsafePointer(to: &address) { pointer in
                        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, length) }
                    }
                    return client
                }
        }

        deinit { for socket in sockets { close(socket) } }
    }

    @Test("An upstream has its own connect timeout, whatever that of another one")
    func own() async throws {
        let port = try FullPort()
        let url = "http://127.0.0.1:\(port.number)"
        let larder = try await RunningLarder.start(
            data: try TemporaryFolder(),
            upstream: url,
            ["--upstreams-spacex-connect-timeout-ms", "50", "--upstreams-spacex-total-timeout-ms", "3000"],
            environment: ["LARDER_UPSTREAMS_PATIENT_URL": url, "LARDER_UPSTREAMS_PATIENT_CONNECT_TIMEOUT_MS": "600000"]
        )
        #expect(try await larder.client.get("/v1/upstreams/spacex/v4/ships").status == 503)
        let upstreams = try await larder.client.get("/v1/status").json.data.upstreams.elements
        let spacex = try #require(upstreams.first { $0.name.string == "spacex" })
        #expect(spacex.last_error.reason.string == "connect-timeout", "another one would be total-timeout")
    }
}
