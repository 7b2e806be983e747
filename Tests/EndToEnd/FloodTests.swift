import Foundation
import TestKit
import Testing

/// One address does its worst, another is served.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FloodTests {
    @Test("TRUST-18 A client of another address is served in every kind of flood", arguments: Flood.allCases)
    func healthyClient(flood: Flood) async throws {
        let larder = try await RunningLarder.start(
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
        let larder = try await RunningLarder.start(["--http-connections", "48", "--http-connections-per-address", "3"])
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

/// Attacks of clients that keep a server from serving others. `script/check-floods` has the same kinds at full size.
enum Flood: String, CaseIterable, Sendable {
    case idle, slowHeads, slowBodies, unread, pipelining, unreadPipelining, resets, connections, malformed, largeHeads
    case logins, listeners

    /// Lets one connection after the other do it until the task is cancelled.
    ///
    /// - Parameter served: Number of responses that the healthy client has got; with each of them, slow attackers send
    ///   a byte.
    func run(port: Int, from address: String, served: Watched<Int> = Watched(0)) async {
        while !Task.isCancelled {
            do {
                try await RawClient.connect(port: port, reads: reads, from: address) {
                    try await attack(&$0, served)
                }
            } catch {
                // Closed, refused or reset by the server: the next one.
                await Task.yield()
            }
        }
    }

    private var reads: Bool { self != .unread && self != .unreadPipelining && self != .listeners }

    private func attack(_ client: inout RawClient, _ served: Watched<Int>) async throws {
        switch self {
        case .idle: _ = await client.receiveToEnd()
        case .slowHeads: try await drip("GET / HTTP/1.1\r\nHost: localhost\r\nA: ", &client, served)
        case .slowBodies: try await drip(Self.post(length: 1000), &client, served)
        case .unread: try await waiting(Self.get("/v1/ships"), &client)
        case .pipelining:
            for _ in 0..<20 { try await client.send(String(repeating: Self.get("/v1/ships/launch"), count: 20)) }
            for _ in 0..<400 { _ = try await client.receive(until: "HTTP/1.1 200") }
        case .unreadPipelining: try await waiting(String(repeating: Self.get("/v1/ships"), count: 200), &client)
        case .resets: try await client.send(Self.get("/v1/ships"))
        case .connections: break
        case .malformed: try await refused("GET /\u{0} HTTP/9.9\r\n\r\n", &client)
        case .largeHeads:
            let field = "A: " + String(repeating: "a", count: 7000) + "\r\n"
            try await refused(
                "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\(String(repeating: field, count: 9))\r\n",
                &client
            )
        case .logins:
            let body = #"{"mode":"login","username":"nobody","password":"wrong password"}"#
            try await client.send(Self.post(length: body.utf8.count) + body)
            _ = try await client.receive(until: "HTTP/1.1 4")
        case .listeners: try await waiting(Self.get("/v1/events"), &client)
        }
    }

    /// Sends a byte with each response that the healthy client gets.
    private func drip(_ beginning: String, _ client: inout RawClient, _ served: Watched<Int>) async throws {
        try await client.send(beginning)
        while !Task.isCancelled {
            let before = served.value
            await served.suspend { $0 > before }
            try await client.send("x")
        }
    }

    /// Sends, and takes nothing until the task is cancelled.
    private func waiting(_ text: String, _ client: inout RawClient) async throws {
        try await client.send(text)
        await Gate().pass()
    }

    private func refused(_ text: String, _ client: inout RawClient) async throws {
        try await client.send(text)
        _ = await client.receiveToEnd()
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

    private static func post(length: Int) -> String {
        "POST /v1/notes/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(length)\r\n\r\n"
    }
}
