import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

@Suite struct SandboxTests {
    @Test("SRV-10 the simulated upstream answers under its prefix, with links to itself")
    func serves() async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get("/spacex/v4/ships")
            #expect(response.status == 200)
            #expect(response.headers["etag"] == EntityTag.strong(for: response.bytes))
            #expect(
                response.headers["server"] == "cloudflare"
                    && response.headers["date"]?.split(separator: ", ").count == 2
            )
            #expect(response.text.contains("http://127.0.0.1:\(sandbox.port)/spacex/images/osprey.png"))
            #expect(!response.text.contains(ShipRecords.originMarker))
            let picture = try await sandbox.get("/spacex/images/osprey.png")
            #expect(picture.bytes == ShipPicture.png(name: "osprey.png", seed: 1))
        }
    }

    @Test("HEAD has the fields of GET and no body")
    func head() async throws {
        try await withSandbox { sandbox in
            let list = try await sandbox.get("/spacex/v4/ships")
            let exchange = try await RawExchange(
                port: sandbox.port,
                send: "HEAD /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            let head = exchange.text.lowercased()
            #expect(
                head.hasPrefix("http/1.1 200") && head.hasSuffix("\r\n\r\n")
                    && head.contains("content-length: \(list.body.count)\r\n")
            )
            #expect(head.contains("etag: \(list.headers["etag"]?.lowercased() ?? "")\r\n"))
        }
    }

    @Test("a condition that holds gets 304 with neither body nor length")
    func notModified() async throws {
        try await withSandbox { sandbox in
            let tag = try await sandbox.get("/spacex/v4/ships").headers["etag"] ?? ""
            let exchange = try await RawExchange(
                port: sandbox.port,
                send:
                    "GET /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: W/\(tag)\r\n"
                    + "Connection: close\r\n\r\n"
            )
            #expect(exchange.text.hasPrefix("HTTP/1.1 304") && exchange.text.hasSuffix("\r\n\r\n"))
            #expect(!exchange.text.lowercased().contains("content-length"))
        }
    }

    @Test("an unknown prefix is 404 and says where to look", arguments: ["/", "/nasa/v4/ships"])
    func unknown(path: String) async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get(path)
            #expect(response.status == 404 && response.text.contains("/_sandbox"))
        }
    }

    @Test("a body over 1 MiB is 413 for upstreams and control API, one of 1 MiB is not")
    func bodyLimit() async throws {
        try await withSandbox { sandbox in
            let fits = String(repeating: " ", count: SandboxResponder.maximumBody)
            #expect(try await sandbox.send(.POST, "/spacex/v4/ships/query", body: fits).status == 400)
            #expect(try await sandbox.send(.POST, "/spacex/v4/ships/query", body: fits + " ").status == 413)
            let response = try await sandbox.send(.PUT, "/_sandbox/spacex/ships", body: fits + " ")
            #expect(response.status == 413 && response.headers["content-type"] == "application/problem+json")
        }
    }

    @Test("a port that is taken is named in the error, for the runner and for who waits for the port")
    func portTaken() async throws {
        try await withSandbox { first in
            let second = Sandbox(configuration: SandboxConfiguration(port: first.port), logger: .quiet)
            let port = Task { try await second.port }
            await #expect {
                try await second.run()
            } throws: { error in
                guard case .cannotListen(let port, _) = error as? SandboxError else { return false }
                return port == first.port
            }
            await #expect(throws: SandboxError.self) { try await port.value }
        }
    }

    @Test("a number that is no port is refused, not tried", arguments: [-1, 65_536])
    func noPort(number: Int) async {
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: number), logger: .quiet)
        await #expect(throws: SandboxError.cannotListen(port: number, reason: "a port is 0…65535")) {
            try await sandbox.run()
        }
    }

    @Test("HOUSE-02 an upstream that the program describes is simulated from the start, and stays after a reset")
    func described() throws {
        let text = #"{openapi: 3.1.0, paths: {/today: {get: {responses: {"200": {description: today}}}}}}"#
        let upstreams = try SimulatedUpstreams(seed: 1, documents: ["weather": text])
        upstreams.reset()
        #expect(upstreams.slot(named: "weather") != nil && !upstreams.remove(stub: "weather"))
        let defect = SandboxError.malformedData(
            resource: "OpenAPI document of weather",
            reason: "/paths: there is none"
        )
        #expect(throws: defect) { try SimulatedUpstreams(seed: 1, documents: ["weather": "{openapi: 3.1.0}"]) }
    }

    @Test("base URLs name the port that it listens on")
    func baseURL() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(), logger: .quiet)
        let running = Task { try await sandbox.run() }
        let port = try await sandbox.port
        #expect(try await sandbox.baseURL(of: "spacex") == "http://127.0.0.1:\(port)/spacex")
        running.cancel()
        _ = await running.result
        await #expect(throws: SandboxError.stopped) { try await sandbox.port }
    }
}

@Suite struct LoopbackHostTests {
    @Test(
        "loopback names and addresses are accepted",
        arguments: [
            "localhost", "LocalHost:80", "a.localhost:1", "127.0.0.1", "127.9.8.7:65535", "[::1]", "[::1]:8080",
        ]
    )
    func accepted(authority: String) {
        #expect(LoopbackHost.matches(authority: authority))
        #expect(LoopbackHost.matches(origin: "http://\(authority)"))
    }

    @Test(
        "every other host is refused",
        arguments: [
            "", "example.com", "localhost.example.com", "127.0.0.1.example.com", "1270.0.1", "127.0.0.256", "127.0.0",
            "128.0.0.1", "0.0.0.0", "[::2]",
            "evil@localhost",
            "localhost:80@evil", "notlocalhost", "localhost:x",
        ]
    )
    func refused(authority: String) {
        #expect(!LoopbackHost.matches(authority: authority))
        #expect(!LoopbackHost.matches(origin: "http://\(authority)"))
    }

    @Test("an origin without a host is refused")
    func nullOrigin() {
        #expect(!LoopbackHost.matches(origin: "null"))
    }
}

@Suite struct ServedRoutesTests {
    private let served = ServedRoutes([
        "GET /v1/ships", "GET /v1/ships/{id}", "POST /v1/notes", "GET /v1/upstreams/{name}/**",
        "GET /v1/shop/list/items",
    ])

    @Test(
        "HARN-34 a route that the server has may be expected",
        arguments: [
            "/v1/ships", "get /v1/ships", "HEAD /v1/ships", "OPTIONS /v1/notes", "/v1/ships/{id}", "/v1/ships/abc",
            "/v1/ships/*", "/v1/**", "/**", "DELETE /v1/upstreams/spacex/v4/ships", "POST /v1/notes", "/v1/shop/**",
        ]
    )
    func served(route: String) throws {
        #expect(
            try served.checked(try FrontRoute.match(route), field: "route", value: route).path.isEmpty
                == (route == "/**")
        )
    }

    @Test(
        "HARN-34 one that it has not is refused with the nearest",
        arguments: [
            ("/v1/shps", "GET /v1/ships"), ("DELETE /v1/ships", "GET /v1/ships"),
            ("/v1/ships/1/2", "GET /v1/ships/{id}"),
            ("/v1/note", "POST /v1/notes"), ("/v2/**", "GET /v1/ships"), ("/v1/shop/list", "GET /v1/shop/list/items"),
        ]
    )
    func unknown(route: String, nearest: String) throws {
        let match = try FrontRoute.match(route)
        let problem = #expect(throws: ControlProblem.self) { try served.checked(match, field: "route", value: route) }
        #expect(problem?.accepted.prefix(2).contains(nearest) == true, "\(problem?.accepted ?? [])")
        #expect(try ServedRoutes([]).checked(match, field: "route", value: route) == match)
    }
}
