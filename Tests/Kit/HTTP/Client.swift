package import AsyncHTTPClient
import Foundation
package import NIOCore
import NIOHTTP1

/// Sends requests to a server under test.
package struct Client: Sendable {
    /// Every request gets a connection if it needs one; the shared client's limit of eight would hold back requests
    /// that a test sends at once.
    package static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// Longest time for a whole response: no test takes as long, even on a busy machine.
    package static let timeout: TimeAmount = .seconds(60)

    /// Where its server begins, without a trailing slash.
    package let base: String
    /// The HTTP client that sends its requests.
    private let http: HTTPClient
    /// The token of its session; nil for none.
    package var token: String?

    /// Creates a client without a session.
    ///
    /// - Parameter http: sends its requests; by default the client of all tests, which follows redirects.
    package init(base: String, http: HTTPClient = Client.http) {
        self.base = base
        self.http = http
    }

    /// The port of its server.
    package var port: Int { base.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Returns a client of another server with the same token, as where servers share sessions.
    package func moved(to larder: RunningLarder) -> Client {
        var moved = larder.client
        moved.token = token
        return moved
    }

    /// Sends a GET.
    package func get(_ path: String, _ headers: [String: String] = [:]) async throws -> ReceivedResponse {
        try await send("GET", path, headers)
    }

    /// Sends a POST of JSON.
    package func post(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("POST", path, [:], body: json)
    }

    /// Sends a PUT of JSON.
    package func put(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("PUT", path, [:], body: json)
    }

    /// Sends a DELETE.
    package func delete(_ path: String) async throws -> ReceivedResponse { try await send("DELETE", path, [:]) }

    /// Sends a request; a body is declared as JSON.
    package func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil)
        async throws -> ReceivedResponse
    {
        try await send(method, path, headers, body: body.map { (Data($0.utf8), "application/json") })
    }

    /// Sends a form.
    package func send(_ method: String, _ path: String, _ form: MultipartForm) async throws -> ReceivedResponse {
        try await send(method, path, [:], body: (form.body, form.contentType))
    }

    private func send(
        _ method: String,
        _ path: String,
        _ headers: [String: String],
        body: (bytes: Data, type: String)?
    ) async throws -> ReceivedResponse {
        var request = HTTPClientRequest(url: base + path)
        request.method = .init(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: body.type)
            request.body = .bytes(ByteBuffer(bytes: body.bytes))
        }
        return try await send(request)
    }

    /// Sends a request of the caller's own making, to any address.
    package func send(_ request: HTTPClientRequest) async throws -> ReceivedResponse {
        let response = try await http.execute(request, timeout: Self.timeout)
        let bytes = try await response.body.collect(upTo: 16 << 20)
        return ReceivedResponse(response, body: Data(bytes.readableBytesView))
    }
}
