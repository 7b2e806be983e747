package import AsyncHTTPClient
import CZlib
package import Foundation
package import NIOCore
import NIOHTTP1
package import Testing

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
    package func moved(to larder: RunningLarder) -> Client { larder.client.with(token) }

    private func with(_ token: String?) -> Client {
        var client = self
        client.token = token
        return client
    }

    /// Opens a session of an app, and returns a client with it.
    package func session(_ app: String, _ login: String, sourceLocation: SourceLocation = #_sourceLocation)
        async throws -> Client
    {
        let response = try await post("/v1/\(app)/session", login)
        #expect(response.status == 201, "\(response.text)", sourceLocation: sourceLocation)
        let token = try #require(
            try response.json.data.token.string,
            "\(response.text)",
            sourceLocation: sourceLocation
        )
        return with(token)
    }

    /// Opens a session of a guest who looks at ships.
    package func guest(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Client {
        try await session("ships", #"{"mode":"guest"}"#, sourceLocation: sourceLocation)
    }

    /// Opens a session of the Disk.
    package func diskUser(
        _ token: String = "sandbox-token",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Client {
        let login = #"{"mode":"oauth_token","access_token":"\#(token)"}"#
        return try await session("disk", login, sourceLocation: sourceLocation)
    }

    /// Opens a session of the notes, by default of a new account. A test that uses the name or the password again
    /// says them.
    package func writer(
        _ name: String = "bob",
        _ mode: String = "register",
        password: String = "correct horse",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Client {
        try await session("notes", Self.account(name, mode, password: password), sourceLocation: sourceLocation)
    }

    /// The body of a request that opens a session of the notes.
    package static func account(_ name: String, _ mode: String = "register", password: String = "correct horse")
        -> String
    {
        #"{"mode":"\#(mode)","username":"\#(name)","password":"\#(password)"}"#
    }

    package func get(_ path: String, _ headers: [String: String] = [:]) async throws -> ReceivedResponse {
        try await send("GET", path, headers)
    }

    package func post(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("POST", path, [:], body: json)
    }

    package func put(_ path: String, _ json: String) async throws -> ReceivedResponse {
        try await send("PUT", path, [:], body: json)
    }

    package func delete(_ path: String) async throws -> ReceivedResponse { try await send("DELETE", path, [:]) }

    /// Sends a request; a body is declared as JSON.
    package func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil)
        async throws -> ReceivedResponse
    {
        try await send(method, path, headers, body: body.map { (Data($0.utf8), "application/json") })
    }

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

/// A whole response, as a test looks at it.
package struct ReceivedResponse: Sendable {
    package let status: Int
    /// The fields by name in lower case; several lines joined.
    package let headers: [String: String]
    /// The bytes as they were received.
    package let body: Data

    package init(status: Int, headers: [(name: String, value: String)], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
        self.body = body
    }

    /// A header field by name; several lines joined.
    package subscript(_ name: String) -> String? { headers[name.lowercased()] }

    /// The body, decompressed if it was compressed.
    package var content: Data { headers["content-encoding"] == "gzip" ? (try? gunzipped(body)) ?? body : body }

    package var text: String { String(decoding: content, as: UTF8.self) }

    package var json: JSON { get throws { try JSON(content) } }

    /// The code of a problem document; nil for everything else.
    package var problemCode: String? {
        guard headers["content-type"]?.hasPrefix("application/problem+json") == true else { return nil }
        return try? json.code.string
    }
}

extension ReceivedResponse {
    /// Takes over a response whose body was read.
    package init(_ response: HTTPClientResponse, body: Data) {
        self.init(status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, body: body)
    }

    /// Reads one response with `Content-Length` (RFC 9112 §2); nil if it is incomplete.
    package init?(http bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1].drop { $0 == " " })) : nil
        }
        self.init(status: status, headers: headers, body: Data(bytes[end.upperBound...]))
        guard self.headers["content-length"] == String(body.count) else { return nil }
    }
}

package struct FormFile: Sendable {
    /// The header of its part, without the empty line.
    package var head: String
    package var bytes: Data

    /// A file of the field `files`.
    package init(_ name: String, _ bytes: Data, type: String = "application/octet-stream") {
        self.init(
            head: "Content-Disposition: form-data; name=\"files\"; filename=\"\(name)\"\r\nContent-Type: \(type)",
            bytes
        )
    }

    /// A file with a header of its own.
    package init(head: String, _ bytes: Data) {
        self.head = head
        self.bytes = bytes
    }
}

/// A body of `multipart/form-data` (RFC 7578).
package struct MultipartForm: Sendable {
    private static let boundary = "limit"

    package let body: Data

    /// Writes a form of these files.
    package init(_ files: [FormFile]) {
        var body = Data()
        for file in files {
            body += Data("--\(Self.boundary)\r\n\(file.head)\r\n\r\n".utf8) + file.bytes + Data("\r\n".utf8)
        }
        self.body = body + Data("--\(Self.boundary)--\r\n".utf8)
    }

    /// Value of `Content-Type`.
    package var contentType: String { "multipart/form-data; boundary=\(Self.boundary)" }
}

/// Bytes are not a whole gzip stream (RFC 1952).
package struct NotGzip: Error {}

/// Decompresses a whole gzip stream (RFC 1952) with the zlib of the system.
package func gunzipped(_ data: Data) throws -> Data {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw NotGzip()
    }
    defer { inflateEnd(&stream) }
    var input = Array(data)
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    var code = Z_OK
    input.withUnsafeMutableBufferPointer { source in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        while code == Z_OK {
            let count = chunk.withUnsafeMutableBufferPointer { target in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                code = inflate(&stream, Z_NO_FLUSH)
                return target.count - Int(stream.avail_out)
            }
            output += chunk.prefix(count)
        }
    }
    guard code == Z_STREAM_END, stream.avail_in == 0 else { throw NotGzip() }
    return Data(output)
}
