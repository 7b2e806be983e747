import AsyncHTTPClient
import Foundation
import HTTPTypes
import JSONValues
import Logging
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

extension RunningSandbox {
    /// Sends a request; nothing is added to it.
    func send(_ method: HTTPMethod = .GET, _ path: String, headers: HTTPHeaders = [:], body: String? = nil) async throws
        -> ReceivedResponse
    {
        try await send(method, path, headers: headers, data: body.map { Data($0.utf8) })
    }

    func send(_ method: HTTPMethod, _ path: String, headers: HTTPHeaders, data: Data?) async throws -> ReceivedResponse
    {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        request.headers = headers
        if let data { request.body = .bytes(ByteBuffer(bytes: data)) }
        return try await client.send(request)
    }

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> ReceivedResponse {
        try await send(.GET, path, headers: headers)
    }

    /// Sets the fault of SpaceX, which must be one.
    func set(_ fault: String) async throws {
        let response = try await send(.PUT, "/_sandbox/upstreams/spacex/fault", body: #"{"fault":"\#(fault)"}"#)
        try #require(response.status == 200, "\(response.text)")
    }

    /// The entries of the journal, once there are `count`.
    func journal(count: Int) async throws -> [JSONObject] {
        let response = try await get("/_sandbox/journal/wait?upstream=spacex&count=\(count)&timeout_ms=60000")
        try #require(response.status == 200, "\(response.text)")
        return try #require(try response.object()["entries"]?.array).compactMap(\.object)
    }

    /// How many requests are held now.
    func waiting() async throws -> JSONValue? { try await get("/_sandbox/upstreams/spacex/fault").object()["waiting"] }
}

extension ReceivedResponse {
    /// The bytes, as the sandbox's own parser takes them.
    var bytes: [UInt8] { Array(body) }

    /// The body as an object whose members are in order.
    func object() throws -> JSONObject { try #require(try JSONParser.parse(bytes).object) }
}

/// Runs a sandbox for the time of `body`, and a client that follows no redirect.
func withSandbox(
    clock: any Clock<Duration> = ContinuousClock(),
    _ body: @escaping @Sendable (RunningSandbox) async throws -> Void
) async throws {
    let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0, seed: 1), logger: .quiet, clock: clock)
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 200
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let result = await withThrowingTaskGroup(of: Void.self, returning: Result<Void, any Error>.self) { group in
        group.addTask { try await sandbox.run() }
        let result: Result<Void, any Error>
        do {
            let port = try await sandbox.port
            result = .success(try await body(RunningSandbox(base: "http://127.0.0.1:\(port)", http: client)))
        } catch {
            result = .failure(error)
        }
        group.cancelAll()
        return result
    }
    try await client.shutdown()
    try result.get()
}

extension SimulatedUpstream {
    /// Calls it without a server; `target` is below its prefix.
    func response(
        _ method: HTTPRequest.Method,
        _ target: String,
        headers: HTTPFields = [:],
        body: String = "",
        origin: String = "http://127.0.0.1:4711"
    ) -> UpstreamResponse {
        let target = RequestTarget(target)
        return respond(
            to: UpstreamRequest(
                method: method,
                path: target.segments,
                query: target.query,
                headers: headers,
                body: Array(body.utf8),
                origin: origin
            )
        )
    }
}
