import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A whole response, as a test looks at it.
struct ReceivedResponse: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: Data

    /// A header field by name; several lines joined.
    subscript(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    var json: JSON { get throws { try JSON(body) } }
}

/// JSON that can be walked by names and places.
@dynamicMemberLookup
struct JSON: @unchecked Sendable {
    // JSONSerialization gives immutable values.
    let value: Any?

    init(_ data: Data) throws { value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) }
    private init(value: Any?) { self.value = value is NSNull ? nil : value }

    subscript(dynamicMember name: String) -> JSON { JSON(value: (value as? [String: Any])?[name]) }
    subscript(_ index: Int) -> JSON {
        JSON(value: (value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil })
    }

    var string: String? { value as? String }
    var int: Int? { value as? Int }
    var bool: Bool? { value as? Bool }
    var array: [JSON] { (value as? [Any] ?? []).map { JSON(value: $0) } }
    var strings: [String] { value as? [String] ?? [] }
    var isNull: Bool { value == nil }
}

/// Sends requests to a server under test, at most ten seconds each.
struct Client: Sendable {
    /// Every request gets a connection if it wants one; the shared client's limit of eight would hold back what a test
    /// wants at once.
    static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1000
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let base: String
    var token: String?

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> ReceivedResponse {
        try await send("GET", path, headers)
    }
    func post(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("POST", path, [:], body: json)
    }
    func put(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("PUT", path, [:], body: json)
    }
    func delete(_ path: String) async throws -> ReceivedResponse { try await send("DELETE", path, [:]) }

    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil) async throws
        -> ReceivedResponse
    {
        var request = HTTPClientRequest(url: base + path)
        request.method = .init(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await Self.http.execute(request, timeout: .seconds(10))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        return ReceivedResponse(
            status: Int(response.status.code),
            headers: response.headers.map { ($0.name, $0.value) },
            body: Data(bytes.readableBytesView)
        )
    }
}
