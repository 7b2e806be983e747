import AsyncHTTPClient
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import Sandbox

/// A sandbox that listens on a free port, and a client for it that follows no redirect.
struct RunningSandbox: Sendable {
    let port: Int
    let client: HTTPClient

    struct ScreenResponse: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        func json() throws -> JSONObject { try #require(try JSONParser.parse(body).object) }
    }

    func send(_ method: HTTPMethod = .GET, _ path: String, headers: HTTPHeaders = [:], body: String? = nil) async throws
        -> ScreenResponse
    {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = headers
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, deadline: .distantFuture)
        return ScreenResponse(
            status: Int(response.status.code),
            headers: response.headers,
            body: Array(buffer: try await response.body.collect(upTo: 8 << 20))
        )
    }

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> ScreenResponse {
        try await send(.GET, path, headers: headers)
    }

    /// Sets the fault of SpaceX.
    func set(_ fault: String) async throws {
        let response = try await send(.PUT, "/_sandbox/upstreams/spacex/fault", body: #"{"fault":"\#(fault)"}"#)
        try #require(response.status == 200, "\(response.text)")
    }

    /// The entries of the journal, once there are `count`.
    func journal(count: Int) async throws -> [JSONObject] {
        let response = try await get("/_sandbox/journal/wait?upstream=spacex&count=\(count)&timeout_ms=60000")
        try #require(response.status == 200, "\(response.text)")
        return try #require(try response.json()["entries"]?.array).compactMap(\.object)
    }

    /// How many requests are held now.
    func waiting() async throws -> JSONValue? { try await get("/_sandbox/upstreams/spacex/fault").json()["waiting"] }
}

/// Runs a sandbox for the time of `body`.
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
            result = .success(try await body(RunningSandbox(port: try await sandbox.port, client: client)))
        } catch {
            result = .failure(error)
        }
        group.cancelAll()
        return result
    }
    try await client.shutdown()
    try result.get()
}
