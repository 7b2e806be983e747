import Foundation
import TestKit
import Testing

/// TRUST-01 with the real executable: no response of an upstream ends the process or breaks the next request.
@Suite(.timeLimit(.minutes(10))) struct HostileUpstreamTests {
    private static let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"

    private static func response(_ path: String, _ url: String) -> String {
        switch path {
        case "/low": "HTTP/1.1 099 Low\r\nContent-Length: 5\r\n\r\nhello"
        case "/zero": "HTTP/1.1 000 Zero\r\n\r\n"
        case "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc"
        case "/hints": String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 1000)
        case "/odd": "HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nodd"
        case "/early": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\(json)"
        default: json
        }
    }

    @Test("TRUST-01 TRUST-07 Low, interim and odd statuses on a mount: a problem or the final response, same process")
    func mounts() async throws {
        let upstream = try await RawServer(byPath: Self.response)
        let larder = try await RunningLarder.start(upstream: upstream.url)
        let pid = larder.process.pid
        for path in ["low", "zero", "upgrade", "hints"] {
            for method in ["GET", "HEAD"] {
                let response = try await larder.client.send(method, "/v1/upstreams/spacex/\(path)")
                #expect(response.status == 502, "\(method) \(path)")
                #expect(
                    response["Upgrade"] == nil && response["Content-Type"] == "application/problem+json; charset=utf-8"
                )
                if method == "GET" { #expect(try response.json.code.string == "upstream-bad-response") }
                #expect(try await larder.client.get("/v1/upstreams/spacex/fine").status == 200, "after \(path)")
            }
        }
        let odd = try await larder.client.get("/v1/upstreams/spacex/odd")
        #expect(odd.status == 502 && odd.text == "odd")
        let early = try await larder.client.get("/v1/upstreams/spacex/early")
        #expect(early.status == 200 && early.text == "[]" && early["Link"] == nil)
        #expect(larder.process.pid == pid)
        #expect(await larder.stop() == 0)
    }

    @Test("TRUST-01 Low statuses and impossible ports behind pictures and lists: placeholders and flagged copies")
    func screens() async throws {
        let upstream = try await RawServer(byPath: { path, url in
            switch path {
            case "/v4/ships", "/low.png": Self.response("/low", url)
            case let path where path.hasPrefix("/products"):
                {
                    let addresses = [
                        "http://127.0.0.1:99999/a.png", "http://localhost:65536/a.png", "http://%5B%5D/a.png",
                        "\(url)/low.png", "\(url)/away", "\(url)/nowhere",
                    ]
                    let row = #"{"id":5,"title":"A","price":1,"images":["\#(addresses.joined(separator: #"",""#))"]}"#
                    let body = path.hasPrefix("/products/") ? row : "[\(row)]"
                    return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                }()
            case "/away": "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:99999/\r\nContent-Length: 0\r\n\r\n"
            case "/nowhere": "HTTP/1.1 302 Found\r\nLocation: http://%5B%5D/\r\nContent-Length: 0\r\n\r\n"
            default: Self.json
            }
        })
        let settings = ["--upstreams-catalogue-url", upstream.url, "--shop-picture-hosts", "127.0.0.1,localhost"]
        let larder = try await RunningLarder.start(upstream: upstream.url, settings)
        let pid = larder.process.pid
        // Addresses to which no connection can be made are none; three are left.
        #expect(try await larder.client.get("/v1/shop/products/5").status == 200)
        #expect(try await larder.client.get("/v1/shop/images/5/3").status == 404)
        for number in 0..<3 {
            let picture = try await larder.client.get("/v1/shop/images/5/\(number)")
            #expect(
                picture.status == 200 && picture["Cache-Status"]?.hasSuffix("detail=placeholder") == true,
                "\(number)"
            )
        }
        let ships = try await larder.guest().get("/v1/ships")
        #expect(ships.status == 200)
        #expect(try await larder.client.get("/health/live").status == 200)
        #expect(larder.process.pid == pid)
        #expect(await larder.stop() == 0)
    }

    @Test("TRUST-01 SRV-13 A URL with an impossible port is refused at start, with what would be acceptable")
    func settings() async throws {
        let data = try TemporaryFolder()
        for flag in ["--upstreams-spacex-url", "--upstreams-mine-url"] {
            let process = RunningProcess([
                "serve", "--http-port", "0", "--data-directory", data.path, flag, "http://127.0.0.1:99999",
            ])
            #expect(await process.ended() != 0)
            #expect(process.log.contains("an absolute http:// or https:// URL with no port or one from 1 to 65535"))
        }
    }

    @Test("TRUST-13 A body of 200,000 chunks of one byte is passed on in few: what arrives together is one")
    func smallChunks() async throws {
        let chunks = String(repeating: "1\r\nx\r\n", count: 200_000)
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\r\n"
        let upstream = try await RawServer(byPath: { _, _ in "\(head)\(chunks)0\r\n\r\n" })
        let larder = try await RunningLarder.start(upstream: upstream.url)
        let exchange = try await RawExchange(
            port: larder.client.port,
            send: "GET /v1/upstreams/spacex/small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        #expect(exchange.text.hasPrefix("HTTP/1.1 200 ") && exchange.text.hasSuffix("\r\n0\r\n\r\n"))
        #expect(exchange.received.count { $0 == UInt8(ascii: "x") } >= 200_000)
        // A chunk for each byte would be 1,200,000 bytes.
        #expect(exchange.received.count < 400_000)
    }
}

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
