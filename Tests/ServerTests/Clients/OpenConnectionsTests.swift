import TestKit
import Testing

@testable import Server

@Suite(.timeLimit(.minutes(10))) struct OpenConnectionsTests {
    @Test("TRUST-18 A client has at most its limit, others theirs, and closed connections do not count")
    func limit() {
        let connections = OpenConnections(limit: 2, exempt: .none)
        let (one, other) = (IPAddress("192.0.2.1"), IPAddress("192.0.2.2"))
        let first = connections.admit(one)
        var open = [connections.admit(one), connections.admit(other), connections.admit(nil)].compactMap { $0 }
        #expect(first != nil && open.count == 3 && connections.admit(one) == nil)
        #expect(connections.count == 4 && connections.clients == 2)
        if let first { connections.closed(first) }
        open += [connections.admit(one)].compactMap { $0 }
        #expect(open.count == 4 && connections.admit(one) == nil)
        for connection in open { connections.closed(connection) }
        #expect(connections.count == 0 && connections.clients == 0)
    }

    @Test("TRUST-23 A connection may hold an eighth of the rest of the budget, and always a little")
    func share() throws {
        let connections = OpenConnections(limit: .max, exempt: .none, budget: 64 << 20)
        let (one, other) = (try #require(connections.admit(nil)), try #require(connections.admit(nil)))
        one.hold(8 << 20)
        #expect(!one.mayBegin && other.mayBegin && connections.held == 8 << 20)
        other.hold(6 << 20)
        #expect(other.mayBegin)
        other.hold(1 << 20)
        #expect(!other.mayBegin)
        one.hold(-(8 << 20))
        #expect(one.mayBegin && other.mayBegin)
        one.hold(80 << 20)
        other.hold(OpenConnection.least - (7 << 20) - 1)
        #expect(other.mayBegin && !one.mayBegin)
        connections.closed(one)
        // The close has released these bytes already; their own release is not counted again.
        one.hold(-(80 << 20))
        #expect(connections.held == OpenConnection.least - 1)
    }

    @Test("TRUST-23 If all hold too much, the heaviest connection of the heaviest client ends, and no other")
    func heaviest() throws {
        let connections = OpenConnections(limit: .max, exempt: .none, budget: 100)
        let ended = Watched<[String]>([])
        func admit(_ name: String, _ address: String?) throws -> OpenConnection {
            try #require(connections.admit(address.flatMap { IPAddress($0) }) { _ in ended.update { $0.append(name) } })
        }
        let proxied = try admit("proxied", nil)
        let large = try admit("large", "192.0.2.1")
        let (some, more) = (try admit("some", "192.0.2.2"), try admit("more", "192.0.2.2"))
        for (connection, count) in [(proxied, 20), (large, 50), (some, 30), (more, 40)] { connection.hold(count) }
        #expect(ended.value == [])
        large.hold(11)
        #expect(ended.value == ["more"])
        // It is on its way out.
        large.hold(30)
        #expect(ended.value == ["more"])
        connections.closed(more)
        large.hold(20)
        #expect(ended.value == ["more", "large"])
    }

    @Test("TRUST-25 If there is hardly room, the oldest connection of the heaviest client ends for each further one")
    func displaced() throws {
        let connections = OpenConnections(limit: 100, exempt: .none, places: 80)
        let ended = Watched<[Int]>([])
        func admit(_ address: String, _ number: Int) throws -> OpenConnection {
            let client = IPAddress(address)
            return try #require(connections.admit(client) { _ in ended.update { $0.append(number) } })
        }
        var open = try (1...50).map { try admit("192.0.2.1", $0) }
        open += try (51...80).map { try admit("192.0.2.2", $0) }
        #expect(ended.value == [])
        open.append(try admit("192.0.2.3", 81))
        open.append(try admit("192.0.2.1", 82))
        #expect(ended.value == [1, 2])
        for connection in open.prefix(25) { connections.closed(connection) }
        open.append(try admit("192.0.2.2", 83))
        #expect(ended.value == [1, 2])
        // Many clients with few connections each: none of them is closed for another.
        let crowd = try (1...60).map { try admit("198.51.100.\($0)", 100 + $0) }
        #expect(ended.value == [1, 2] && crowd.count == 60)
    }

    @Test("TRUST-25 Two addresses that hold all connections with streams without an end do not stop a third one")
    func heldByTwo() async throws {
        let connections = OpenConnections(limit: 40, exempt: .none, places: 70)
        try await LoopbackServer.run(connections: connections) { server in
            func hold(_ address: String, _ count: Int, _ body: () async throws -> Void) async throws {
                guard count > 0 else { return try await body() }
                // Small buffers are soon full: to fill large ones would keep the event loops of all tests busy.
                try await RawClient.connect(port: server.port, reads: false, receiveBuffer: 4096, from: address) {
                    client in
                    try await client.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
                    try await hold(address, count - 1, body)
                }
            }
            try await hold("127.0.0.2", 38) {
                try await hold("127.0.0.3", 38) {
                    try await RawClient.connect(port: server.port, from: "127.0.0.4") { healthy in
                        try await healthy.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
                        _ = try await healthy.receive(until: "hello")
                    }
                }
            }
        }
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
