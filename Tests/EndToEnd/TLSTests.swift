import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit
import Testing

/// HTTPS by the real executable (docs/decisions/0133).
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    /// Runs `body` with a client of a server that trusts this authority only.
    private func trusting<Result: Sendable>(
        _ authority: TestAuthority,
        _ larder: RunningLarder,
        _ version: HTTPClient.Configuration.HTTPVersion = .http1Only,
        _ body: (Client, HTTPClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = authority.client()
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = version
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(Client(base: larder.client.base, http: http), http)
            try await http.shutdown()
            return result
        } catch {
            try await http.shutdown()
            throw error
        }
    }

    /// The number of responses from the cache in memory.
    private func keptResponses(_ client: Client) async throws -> Int {
        let lines = try await client.get("/metrics").text.split(separator: "\n")
        let line = lines.first { $0.hasPrefix("larder_rendered_hits_total ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    @Test("SRV-14 HTTP/2 is spoken with a client that offers it: a hundred requests at once, kept responses among them")
    func multiplexed() async throws {
        let authority = try TestAuthority()
        let larder = try await RunningLarder.start(authority.settings)
        try await trusting(authority, larder, .automatic) { client, http in
            // Until it was fetched, rendered and sent from the cache.
            while try await keptResponses(client) == 0 { #expect(try await client.get("/v1").status == 200) }
            try await (1...100).concurrentMap { number in
                // Every other response is a cached one.
                let path = number.isMultiple(of: 2) ? "/v1" : "/v1/status"
                let request = HTTPClientRequest(url: larder.client.base + path)
                let response = try await http.execute(request, timeout: Client.timeout)
                #expect(response.version == .http2 && response.status == .ok)
                #expect(response.headers["connection"] == [] && response.headers["x-request-id"].count == 1)
                let bytes = try await response.body.collect(upTo: 1 << 20)
                #expect(bytes.readableBytes > 0)
            }
        }
        #expect(await larder.stop() == 0)
    }

    @Test("SRV-14 an event stream of HTTP/2 leaves room for other streams, and ends in order if the server stops")
    func events() async throws {
        let authority = try TestAuthority()
        let larder = try await RunningLarder.start(authority.settings)
        try await trusting(authority, larder, .automatic) { client, http in
            let listener = try await EventListener.open(larder.client.base + "/v1/events", http: http)
            #expect(try await client.get("/health/live").status == 200)
            #expect(await larder.stop() == 0)
            #expect(try await listener.next() == nil)
        }
    }

    @Test("SRV-14 larder certificate makes an authority that clients can trust, and does not replace what is there")
    func command() async throws {
        let folder = TemporaryFolder.unmade()
        let arguments = ["certificate", folder.path, "--name", "localhost", "--name", "127.0.0.1"]
        let first = RunningProcess(arguments)
        #expect(await first.ended() == 0)
        for part in ["--http-tls-certificate \(folder.path)/server.crt", "Certificate Trust Settings", "--cacert"] {
            #expect(first.output.contains(part), "\(first.output)")
        }
        let second = RunningProcess(arguments)
        #expect(await second.ended() == 1)
        #expect(second.log == "larder: \(folder.path)/server.crt exists already\n")
        let renewal = RunningProcess(["certificate", folder.path, "--renew"])
        #expect(await renewal.ended() == 0)
        #expect(renewal.output.contains("Clients that trust \(folder.path)/authority.crt trust it."))
    }

    @Test(
        "SRV-14 with a certificate everything is HTTPS: trusted clients are served, others are not, GET is sent on",
        arguments: [HTTPClient.Configuration.HTTPVersion.http1Only, .automatic]
    )
    func served(_ version: HTTPClient.Configuration.HTTPVersion) async throws {
        let authority = try TestAuthority()
        let larder = try await RunningLarder.start(authority.settings)
        #expect(larder.client.base.hasPrefix("https://127.0.0.1:"))
        await #expect(throws: (any Error).self) { try await larder.client.get("/health/live") }
        try await trusting(authority, larder, version) { client, _ in
            #expect(try await client.get("/health/live").status == 200)
            let headers = ["Larder-Session": "cookie", "Origin": larder.client.base]
            let session = try await client.send("POST", "/v1/ships/session", headers, body: #"{"mode":"guest"}"#)
            #expect(session.status == 201 && session["set-cookie"]?.contains("; Secure") == true)
            let foreign = ["Origin": larder.client.base.replacing("https", with: "http")]
            let refused = try await client.send("POST", "/v1/ships/session", foreign, body: #"{"mode":"guest"}"#)
            #expect(refused.problemCode == "origin-not-allowed")
            // The second response is a kept one.
            for _ in 1...2 { #expect(try await client.get("/v1").status == 200) }
        }
        try await RawClient.connect(port: larder.client.port) { client in
            try await client.send("GET /v1?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let response = await client.receiveToEnd().lowercased()
            #expect(response.hasPrefix("http/1.1 308 ") && response.contains("location: https://localhost/v1?a=b\r\n"))
        }
        #expect(await larder.stop() == 0)
    }

    @Test("SRV-14 at SIGHUP the certificate is read again: no request is lost, and a bad one changes nothing")
    func reload() async throws {
        let authority = try TestAuthority()
        let larder = try await RunningLarder.start(authority.settings)
        try await trusting(authority, larder) { client, _ in
            // Each request has a connection of its own, and the longest of them was open before the signals.
            try await RawClient.connect(port: larder.client.port, tls: authority.client()) { kept in
                let ask = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
                try await kept.send(ask)
                #expect(try await kept.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 OK"))
                try await withThrowingTaskGroup(of: Void.self) { load in
                    for _ in 1...4 {
                        load.addTask {
                            while !Task.isCancelled {
                                let response = try await client.get("/health/live", ["Connection": "close"])
                                #expect(response.status == 200)
                            }
                        }
                    }
                    try authority.renew(names: ["localhost", "127.0.0.1", "renewed.test"])
                    larder.process.signal(SIGHUP)
                    try await larder.process.logged("the TLS certificate was read again")
                    #expect(try await client.get("/health/live", ["Host": "renewed.test"]).status == 200)
                    try Data().write(to: authority.key)
                    larder.process.signal(SIGHUP)
                    try await larder.process.logged("the TLS certificate stays as it was")
                    #expect(larder.process.log.contains("/server.key has no private key in PEM form"))
                    #expect(try await client.get("/health/live", ["Host": "renewed.test"]).status == 200)
                    load.cancelAll()
                    while let ended = await load.nextResult() {
                        guard case .failure(let error) = ended, !(error is CancellationError) else { continue }
                        if (error as? HTTPClientError) != .cancelled { throw error }
                    }
                }
                try await kept.send(ask)
                #expect(try await kept.receive(until: "\r\n\r\n").hasSuffix("\r\n\r\n"))
            }
        }
    }

    @Test("SRV-14 a server whose certificate cannot be served does not start, and doctor says the same sentence")
    func unusable() async throws {
        let (authority, other) = (try TestAuthority(), try TestAuthority())
        let settings = ["--http-tls-certificate", authority.certificate.path]
        let key = ["--http-tls-key", other.key.path]
        let data = try TemporaryFolder()
        let common = ["--http-port", "0", "--data-directory", data.path]
        let server = RunningProcess(["serve"] + common + settings + key)
        #expect(await server.ended() == 78)
        let sentence = "the key in \(other.key.path) is not that of the certificate in "
        #expect(server.log.contains("larder: " + sentence), "\(server.log)")
        let doctor = RunningProcess(["doctor"] + common + settings + key)
        #expect(await doctor.ended() == 1)
        #expect(doctor.output.contains(sentence), "\(doctor.output)")
        let half = RunningProcess(["serve"] + common + settings)
        #expect(await half.ended() == 78)
        #expect(half.log.contains("http.tls_key"), "\(half.log)")
    }
}
