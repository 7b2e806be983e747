import Foundation
import TestKit
import Testing

/// One address does its worst, another is served.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FloodTests {
    @Test("TRUST-18 A client of another address is served in every kind of flood", arguments: Flood.allCases)
    func healthyClient(flood: Flood) async throws {
        let larder = try await RunningLarder.start(
            data: try TemporaryFolder(),
            [
                "--http-connections", "48", "--http-connections-per-address", "32",
                // A password that is being compared on a busy machine delays the stop.
                "--http-stop-timeout-ms", "60000",
            ]
        )
        let port = try #require(URL(string: larder.client.base)?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let served = Watched(0)
            for _ in 0..<64 { group.addTask { await flood.run(port: port, from: "127.0.0.1", served: served) } }
            defer { group.cancelAll() }
            var longest = Duration.zero
            for _ in 0..<30 {
                let began = ContinuousClock.now
                try await RawClient.connect(port: port, from: "127.0.0.2") { client in
                    try await client.send("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 200"), "\(flood)")
                }
                longest = max(longest, ContinuousClock.now - began)
                served.update { $0 += 1 }
            }
            // Some hundred times the duration without a flood. A client that waited for another's deadline would take
            // at least 10 s.
            #expect(longest < .seconds(5), "\(flood): \(longest)")
        }
        #expect(await larder.stop() == 0)
    }

    @Test("TRUST-18 One address cannot take all connections")
    func connections() async throws {
        let larder = try await RunningLarder.start(
            data: try TemporaryFolder(),
            ["--http-connections", "48", "--http-connections-per-address", "3"]
        )
        let port = try #require(URL(string: larder.client.base)?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { await Flood.idle.run(port: port, from: "127.0.0.1") } }
            defer { group.cancelAll() }
            let metrics = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            // The three are counted once they have been accepted.
            while true {
                let text = try await RawClient.connect(port: port, from: "127.0.0.2") { client in
                    try await client.send(metrics)
                    return await client.receiveToEnd()
                }
                if text.contains("larder_http_connections 4\n") { break }
            }
            let refused = try await RawClient.connect(port: port, from: "127.0.0.1") { await $0.receiveToEnd() }
            #expect(refused == "")
        }
        #expect(await larder.stop() == 0)
    }
}
