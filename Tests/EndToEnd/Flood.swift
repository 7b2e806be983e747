import TestKit

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
