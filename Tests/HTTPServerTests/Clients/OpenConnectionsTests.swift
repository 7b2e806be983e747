import TestKit
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(10))) struct OpenConnectionsTests {
    @Test("TRUST-18 A client has at most its limit, others theirs, and closed connections do not count")
    func limit() {
        let connections = OpenConnections(limit: 2, exempt: .none)
        let (one, other) = (IPAddress("192.0.2.1"), IPAddress("192.0.2.2"))
        #expect(connections.admit(one) && connections.admit(one) && !connections.admit(one))
        #expect(connections.admit(other) && connections.admit(nil))
        #expect(connections.count == 4 && connections.clients == 2)
        connections.closed(one)
        #expect(connections.admit(one) && !connections.admit(one))
        for client in [one, one, other, nil] { connections.closed(client) }
        #expect(connections.count == 0 && connections.clients == 0)
    }

    @Test("TRUST-18 Connections beyond the limit of an address are closed; another address is served at once")
    func served() async throws {
        try await LoopbackServer.run(connections: OpenConnections(limit: 2, exempt: .none)) { server in
            try await RawClient.connect(port: server.port) { first in
                try await first.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try await first.receive(until: "hello")
                try await RawClient.connect(port: server.port) { second in
                    try await second.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try await second.receive(until: "hello")
                    let text = try await RawClient.connect(port: server.port) { await $0.receiveToEnd() }
                    #expect(text == "")
                    try await RawClient.connect(port: server.port, from: "127.0.0.2") { healthy in
                        try await healthy.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                        _ = try await healthy.receive(until: "hello")
                    }
                }
            }
            var cuts = server.cuts.makeAsyncIterator()
            #expect(await cuts.next() == .tooManyConnections)
        }
    }

    @Test("TRUST-18 Trusted proxies are exempt")
    func exempt() async throws {
        let proxies = TrustedProxies(["127.0.0.1"].compactMap { AddressRange($0) })
        try await LoopbackServer.run(connections: OpenConnections(limit: 1, exempt: proxies)) { server in
            try await RawClient.connect(port: server.port) { _ in
                try await RawClient.connect(port: server.port) { second in
                    try await second.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                    _ = try await second.receive(until: "hello")
                }
            }
        }
    }
}
