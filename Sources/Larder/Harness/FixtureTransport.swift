import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Sandbox
import Synchronization
import Upstream

/// Sends the requests to one upstream, or responds to them from files, according to the mode of its recordings.
///
/// All requests to an upstream use this transport, including those of mounts and of file transfers: ``UpstreamClient``
/// sends them here, below the cache, redirects and retries.
struct FixtureTransport: Transport {
    let real: any Transport
    let fixtures: UpstreamFixtures
    /// The base URL of the upstream, without a slash at the end.
    let base: String
    /// Largest body that a patch is applied to, in bytes.
    let maximumBytes: Int

    init(real: any Transport, fixtures: UpstreamFixtures, _ configuration: UpstreamConfiguration) {
        self.real = real
        self.fixtures = fixtures
        base = configuration.baseURL.absoluteString
        maximumBytes = configuration.maximumResponseBytes
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        let mode = fixtures.mode
        fixtures.learn(request.headerFields, target(request.url))
        guard mode != .live else { return try await real.exchange(request, within: limits) }
        let asked = FixtureRequest(
            method: request.method,
            target: target(request.url),
            headerFields: request.headerFields,
            body: request.body.map(FixtureBody.init)
        )
        if let reply = reply(to: asked, mode) { return try Self.incoming(reply) }
        var plain = request
        if mode.asksPlainly { plain.headerFields.askPlainly(of: request.method) }
        var response = try await real.exchange(plain, within: limits)
        var fixture = FixtureResponse(response)
        switch mode {
        case .record, .spy:
            guard !fixtures.isReadOnly else { break }
            var isKept = false
            try Self.storing { () throws in isKept = try fixtures.keep(asked, fixture) }
            if mode == .spy, isKept { response.headerFields[.fixture] = "recorded" }
        case .diff: try Self.storing { () throws in try fixtures.compare(fixture, to: asked) }
        case .modify:
            await fixtures.modify(&fixture, to: asked) { _ in }
            response = try Self.incoming(fixture)
        case .live, .replay: break
        }
        return response
    }

    /// Returns the recorded response in a mode that replays; nil if the request must be sent to the upstream.
    func reply(to request: FixtureRequest, _ mode: FixtureMode) -> FixtureResponse? {
        switch mode {
        case .replay: fixtures.reply(to: request) ?? fixtures.refusal(of: request)
        case .spy: fixtures.reply(to: request)
        case .live, .record, .modify, .diff: nil
        }
    }

    /// Returns the target of a URL in the form of the files: relative to the base URL, if the URL is below it.
    func target(_ url: String) -> String {
        guard url.hasPrefix(base) else { return url }
        let rest = url.dropFirst(base.count)
        return rest.isEmpty || rest.hasPrefix("?") ? "/\(rest)" : rest.hasPrefix("/") ? String(rest) : url
    }

    /// Runs work on files. Its errors do not count as failures of the upstream.
    static func storing(_ work: () throws -> Void) throws(UpstreamError) {
        do {
            try work()
        } catch {
            if case .notWritten(_, _, let isFull)? = error as? FixtureError { throw .storageFailed(isFull: isFull) }
            throw .storageFailed(isFull: false)
        }
    }

    private static func incoming(_ response: FixtureResponse) throws(UpstreamError) -> IncomingResponse {
        var body: [UInt8] = []
        try storing { () throws in body = try response.bytes() }
        return IncomingResponse(status: response.status, headerFields: response.headerFields, body: body)
    }
}

extension FixtureResponse {
    init(_ response: IncomingResponse) {
        self.init(status: response.status, headerFields: response.headerFields, content: .bytes(response.body))
    }
}

extension HTTPFields {
    /// Changes the fields so that the upstream sends a complete, uncompressed response.
    mutating func askPlainly(of method: HTTPRequest.Method) {
        self[.acceptEncoding] = nil
        guard method == .get || method == .head else { return }
        self[.ifNoneMatch] = nil
        self[.ifModifiedSince] = nil
    }
}

extension HTTPField.Name {
    /// `Fixture`: the file from which a response was read, or `recorded` if it has just been recorded.
    static let fixture = HTTPField.Name("Fixture") ?? .server
}

// Recording of responses that pass.
extension FixtureTransport {
    /// Collects a response while it is forwarded, and calls `end` with the whole response.
    private func collecting(
        _ response: StreamedResponse,
        of asked: @escaping @Sendable () -> FixtureRequest,
        end: @escaping @Sendable (FixtureResponse) throws -> Void
    ) throws(UpstreamError) -> StreamedResponse {
        let tee = FixtureTee(fixtures)
        let (status, fields) = (response.status, response.headerFields)
        let finish: @Sendable () throws -> Void = {
            try end(FixtureResponse(status: status, headerFields: fields, content: try tee.finish()))
        }
        if asked().method == .head || [204, 304].contains(status.code) || fields[.contentLength] == "0" {
            try Self.storing(finish)
            return response
        }
        var passing = response
        let body = response.body
        passing.body = ByteStream {
            let parts = body.makeAsyncIterator()
            // A reader that knows the length may not read to the end.
            var (isFinished, missing) = (false, fields[.contentLength].flatMap { Int($0) })
            return {
                let part = try await parts.next()
                if let part {
                    try part.withUnsafeReadableBytes { try tee.append($0) }
                    missing? -= part.readableBytes
                }
                if !isFinished, part == nil || missing == 0 {
                    isFinished = true
                    try finish()
                }
                return part
            }
        }
        return passing
    }

    func recording(_ response: StreamedResponse, of asked: @escaping @Sendable () -> FixtureRequest)
        throws(UpstreamError) -> StreamedResponse
    {
        try collecting(response, of: asked) { [fixtures] in _ = try fixtures.keep(asked(), $0) }
    }

    func comparing(_ response: StreamedResponse, of asked: @escaping @Sendable () -> FixtureRequest)
        throws(UpstreamError) -> StreamedResponse
    {
        try collecting(response, of: asked) { [fixtures] whole in
            defer { if case .file(let url, _) = whole.content { try? FileManager.default.removeItem(at: url) } }
            try fixtures.compare(whole, to: asked())
        }
    }

    /// Applies patches. A response is collected first only if its body is patched.
    func modified(_ response: StreamedResponse, of asked: FixtureRequest) async throws(UpstreamError)
        -> StreamedResponse
    {
        var isCollected = false
        var fixture = FixtureResponse(
            status: response.status,
            headerFields: response.headerFields,
            content: .bytes([])
        )
        do {
            try await fixtures.modify(&fixture, to: asked) { fixture in
                let body = try await response.body.collect(upTo: maximumBytes)
                fixture.content = .bytes(Array(body.readableBytesView))
                isCollected = true
            }
        } catch is NIOTooManyBytesError {
            throw .badResponse(status: response.status, reason: "more than \(maximumBytes) bytes to modify")
        } catch {
            throw error as? UpstreamError ?? .badResponse(status: response.status, reason: "the body was truncated")
        }
        if isCollected { return Self.streamed(fixture) }
        return StreamedResponse(status: fixture.status, headerFields: fixture.headerFields, body: response.body)
    }

    /// Bytes of a file that are read at a time.
    private static let partBytes = 256 << 10

    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        let mode = fixtures.mode
        fixtures.learn(request.headerFields, target(request.url))
        guard mode != .live else { return try await real.stream(request, within: limits) }
        let (asked, outgoing) = try await asked(request, mode)
        if mode == .replay || mode == .spy, let reply = reply(to: asked(), mode) { return Self.streamed(reply) }
        var response = try await real.stream(outgoing, within: limits)
        switch mode {
        case .record, .spy:
            guard !fixtures.isReadOnly else { return response }
            if mode == .spy { response.headerFields[.fixture] = "recorded" }
            return try recording(response, of: asked)
        case .diff: return try comparing(response, of: asked)
        case .modify: return try await modified(response, of: asked())
        case .live, .replay: return response
        }
    }

    /// Returns the request for the comparison with files, and the request to send. The body is read first if a file may
    /// respond; otherwise it is recorded while it is sent.
    private func asked(_ request: StreamedRequest, _ mode: FixtureMode) async throws(UpstreamError) -> (
        @Sendable () -> FixtureRequest, StreamedRequest
    ) {
        let seen = Seen()
        var outgoing = request
        if mode.asksPlainly { outgoing.headerFields.askPlainly(of: request.method) }
        let head = FixtureRequest(
            method: request.method,
            target: target(request.url),
            headerFields: request.headerFields
        )
        if let body = request.body {
            if mode == .replay || mode == .spy {
                outgoing.body = try await read(body, into: seen)
            } else {
                outgoing.body = body.passing { part in part.withUnsafeReadableBytes(seen.append) }
            }
        }
        let hasBody = request.body != nil
        let asked: @Sendable () -> FixtureRequest = {
            var asked = head
            if hasBody { asked.body = seen.body }
            return asked
        }
        return (asked, outgoing)
    }

    /// Reads a body. It is kept in memory if it may be sent later.
    private func read(_ body: ByteStream, into seen: Seen) async throws(UpstreamError) -> ByteStream {
        var whole = ByteBuffer()
        do {
            for try await part in body {
                part.withUnsafeReadableBytes(seen.append)
                if fixtures.mode == .spy { whole.writeImmutableBuffer(part) }
            }
        } catch {
            throw .badResponse(status: nil, reason: "the body of the request was truncated")
        }
        return ByteStream(whole)
    }

    static func streamed(_ response: FixtureResponse) -> StreamedResponse {
        let body: ByteStream =
            switch response.content {
            case .bytes(let bytes): ByteStream(ByteBuffer(bytes: bytes))
            case .file(let url, _):
                ByteStream {
                    var handle: FileHandle?
                    return {
                        let file = try handle ?? FileHandle(forReadingFrom: url)
                        handle = file
                        let part = try file.read(upToCount: partBytes) ?? Data()
                        return part.isEmpty ? nil : ByteBuffer(bytes: part)
                    }
                }
            }
        return StreamedResponse(status: response.status, headerFields: response.headerFields, body: body)
    }

    /// The part of a request's body that was sent so far.
    private final class Seen: Sendable {
        private let state = Mutex(FixtureBody())

        var body: FixtureBody { state.withLock { $0 } }

        @Sendable func append(_ part: UnsafeRawBufferPointer) { state.withLock { $0.append(part) } }
    }
}

extension ByteStream {
    /// Returns the same stream, and calls `look` with each part that is read.
    fileprivate func passing(_ look: @escaping @Sendable (ByteBuffer) -> Void) -> ByteStream {
        ByteStream {
            let parts = makeAsyncIterator()
            return {
                let part = try await parts.next()
                if let part { look(part) }
                return part
            }
        }
    }
}
