import AsyncHTTPClient
import Foundation
import JSONValues
import NIOCore
import NIOHTTP1
import NIOPosix
import TestKit
import Testing

@testable import Sandbox

private let request = "GET /spacex/v4/ships/70ca HTTP/1.1\r\nHost: localhost\r\n\r\n"

@Suite struct UpstreamCallTests {
    @Test("SRV-10 offline resets the connection without a byte of a response")
    func offline() async throws {
        try await withSandbox { sandbox in
            try await sandbox.set("offline")
            let exchange = try await RawExchange(port: sandbox.port, send: request)
            #expect(exchange.received.isEmpty && exchange.wasReset, "\(exchange)")
            await #expect(throws: (any Error).self) { try await sandbox.get("/spacex/v4/ships") }
            try await sandbox.set("online")
            #expect(try await sandbox.get("/spacex/v4/ships").status == 200)
        }
    }

    @Test("offline resets a kept-alive connection as well")
    func offlineKeptAlive() async throws {
        try await withSandbox { sandbox in
            let offline = request.replacing("Host:", with: "Sandbox-Fault: offline\r\nHost:")
            let exchange = try await RawExchange(
                port: sandbox.port,
                send: request,
                later: [(after: "Not Found", send: request), (after: "Not Found", send: offline)]
            )
            #expect(
                exchange.text.components(separatedBy: "HTTP/1.1 404").count == 3,
                "two whole answers: \(exchange.text)"
            )
            #expect(exchange.text.hasSuffix("Not Found") && exchange.wasReset)
        }
    }

    @Test("SRV-10 slow delays the response's head by its milliseconds")
    func slow() async throws {
        let clock = ManualClock()
        try await withSandbox(clock: clock.monotonic) { sandbox in
            try await sandbox.set("slow(300)")
            async let response = sandbox.get("/spacex/v4/ships")
            #expect(await clock.nextSleep() == .milliseconds(300))
            let journal = try await sandbox.get("/_sandbox/journal").object()
            #expect(journal["entries"]?.array?.first?.object?["status"] == .null, "no head yet")
            clock.advance(by: .milliseconds(300))
            #expect(try await response.status == 200)
        }
    }

    @Test(
        "error answers its status, with Retry-After where it is given",
        arguments: [("error(500)", 500, nil), ("error(429, 30)", 429, "30"), ("error(503, 0)", 503, "0")]
    )
    func error(fault: String, status: Int, retryAfter: String?) async throws {
        try await withSandbox { sandbox in
            try await sandbox.set(fault)
            let response = try await sandbox.get("/spacex/v4/ships")
            #expect(response.status == status && response["retry-after"] == retryAfter)
        }
    }

    @Test(
        "error answers in the upstream's own form where it has one, html in none of theirs",
        arguments: [
            ("yandex_disk", "error(404)", "application/json", #""error":"DiskNotFoundError""#),
            ("yandex_disk", "error(401)", "application/json", #""error":"UnauthorizedError""#),
            ("yandex_disk", "error(418)", "application/json", #""error":"Status418Error""#),
            ("people", "error(401)", "application/json", #""error":"Refused"#),
            ("spacex", "error(404)", "text/plain", "404"),
            ("yandex_disk", "html(404)", "text/html", "<h1>404</h1>"),
            ("spacex", "html(200)", "text/html", "<h1>200</h1>"),
        ]
    )
    func forms(upstream: String, fault: String, type: String, text: String) async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get("/\(upstream)/anything", headers: ["Sandbox-Fault": fault])
            #expect(fault.contains("\(response.status)") && response["content-type"]?.hasPrefix(type) == true)
            #expect(response.text.contains(text), "\(response.text)")
        }
    }

    @Test("flaky sends 503 to the requests that its seed selects")
    func flaky() async throws {
        try await withSandbox { sandbox in
            let fault = Fault.flaky(probability: 0.5, seed: 42)
            try await sandbox.set(fault.description)
            let expected = (0..<12).map { FaultPlan(fault).decision(ordinal: $0) == .response ? 200 : 503 }
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(try await sandbox.get("/spacex/v4/ships").status) }
            #expect(statuses == expected)
            #expect(Set(statuses) == [200, 503])
        }
    }

    @Test("SRV-10 truncated announces the whole length and closes in the middle, also under a condition that holds")
    func truncated() async throws {
        try await withSandbox { sandbox in
            let whole = try await sandbox.get("/spacex/v4/ships")
            try await sandbox.set("truncated")
            await #expect(throws: (any Error).self) { try await sandbox.get("/spacex/v4/ships") }
            let tag = whole.headers["etag"] ?? ""
            let exchange = try await RawExchange(
                port: sandbox.port,
                send: "GET /spacex/v4/ships HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n"
            )
            let parts = exchange.text.components(separatedBy: "\r\n\r\n")
            #expect(parts[0].lowercased().contains("content-length: \(whole.body.count)"))
            #expect(parts[0].hasPrefix("HTTP/1.1 200"))
            let body = Array(exchange.received.dropFirst(parts[0].utf8.count + 4))
            #expect(body == Array(whole.bytes.prefix(whole.body.count / 2)))
        }
    }

    @Test("lost carries the request out and sends nothing; the journal has the response that was not sent")
    func lost() async throws {
        try await withSandbox { sandbox in
            let token: HTTPHeaders = ["Authorization": "OAuth sandbox-token"]
            let folder = "/yandex_disk/v1/disk/resources?path=disk:/lost"
            let request = "PUT \(folder) HTTP/1.1\r\nHost: localhost\r\nSandbox-Fault: lost\r\n"
            let exchange = try await RawExchange(
                port: sandbox.port,
                send: request + "Authorization: OAuth sandbox-token\r\n\r\n"
            )
            #expect(exchange.received.isEmpty && exchange.wasReset, "\(exchange)")
            #expect(try await sandbox.get(folder, headers: token).status == 200)
            let journal = try await sandbox.get("/_sandbox/journal?method=PUT").object()
            let entry = try #require(journal["entries"]?.array?.first?.object)
            #expect(entry["status"] == 201 && entry["bytes"] == 0 && entry["fault"] == "lost")
        }
    }

    @Test("garbage is a 200 of the promised type with bytes that are not JSON")
    func garbage() async throws {
        try await withSandbox { sandbox in
            let tag = try await sandbox.get("/spacex/v4/ships").headers["etag"] ?? ""
            try await sandbox.set("garbage")
            let response = try await sandbox.get("/spacex/v4/ships", headers: ["If-None-Match": tag])
            #expect(
                response.status == 200 && response.headers["content-type"] == "application/json; charset=utf-8"
                    && response.headers["etag"] == nil
            )
            #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(response.bytes) }
        }
    }

    @Test("SRV-10 a request field overrides the upstream's fault, for that request only")
    func override() async throws {
        try await withSandbox { sandbox in
            try await sandbox.set("error(500)")
            #expect(try await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "online"]).status == 200)
            #expect(try await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "error(418)"]).status == 418)
            #expect(try await sandbox.get("/spacex/v4/ships").status == 500)
        }
    }

    @Test("a malformed override is a problem that names the field and what is accepted")
    func malformedOverride() async throws {
        try await withSandbox { sandbox in
            let response = try await sandbox.get("/spacex/v4/ships", headers: ["Sandbox-Fault": "slowish"])
            let problem = try response.object()
            #expect(response.status == 400 && problem["field"] == "Sandbox-Fault")
            #expect(problem["accepted"]?.array?.count == FaultSyntaxError.accepted.count)
        }
    }

    @Test("DISK-40 an upload whose connection breaks, or to which a fault responds, ends as a failed operation")
    func brokenUploads() async throws {
        try await withSandbox { sandbox in
            let token: HTTPHeaders = ["Authorization": "OAuth sandbox-token"]
            func link() async throws -> (target: String, operation: String) {
                let path = "/yandex_disk/resources/upload?path=disk:/new.txt"
                let link = try await sandbox.get(path, headers: token).object()
                let href = try #require(link["href"]?.string)
                return (String(href.dropFirst(sandbox.base.count)), try #require(link["operation_id"]?.string))
            }
            func status(_ operation: String) async throws -> String? {
                try await sandbox.get("/yandex_disk/operations/\(operation)", headers: token).object()["status"]?.string
            }
            for fault in ["online", "offline", "error(502)", "html(200)", "lost"] {
                let (target, operation) = try await link()
                _ = try await sandbox.send(
                    .PUT,
                    "/_sandbox/upstreams/yandex_uploader/fault",
                    body: #"{"fault":"\#(fault)"}"#
                )
                #expect(try await status(operation) == "in-progress")
                if fault == "online" {
                    let head = "PUT \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
                    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: sandbox.port)).get()
                    try await channel.writeAndFlush(ByteBuffer(string: head + "half"))
                    try await channel.close()
                } else {
                    _ = try? await sandbox.send(.PUT, target, body: "whole")
                }
                try await BoundedWait.poll(for: "the end of the upload after \(fault)") {
                    try await status(operation) == (fault == "lost" ? "success" : "failed")
                }
            }
        }
    }
}

@Suite struct ReceivedBodyTests {
    @Test(
        "a body is the same in memory and in a file",
        arguments: [0, 1, ReceivedBody.inMemory, ReceivedBody.inMemory + 1, 3_000_000]
    )
    func received(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let (stream, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        for start in stride(from: 0, to: size, by: 100_000) {
            continuation.yield(ByteBuffer(bytes: bytes[start..<min(size, start + 100_000)]))
        }
        continuation.finish()
        let body = try await ReceivedBody.receive(stream)
        #expect(body.count == size && body.sha256 == ReceivedBody(bytes).sha256 && body.md5 == ReceivedBody(bytes).md5)
        #expect(try body.source.bytes(in: 0..<size) == bytes)
        if size > 10 { #expect(try body.source.bytes(in: size - 3..<size) == bytes.suffix(3)) }
    }
}
