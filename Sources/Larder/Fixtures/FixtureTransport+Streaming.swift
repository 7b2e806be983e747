import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Sandbox
import Synchronization
import Upstream

extension FixtureTransport {
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
            return try keeping(response, of: asked)
        case .diff: return try comparing(response, of: asked)
        case .modify: return try await modified(response, of: asked())
        case .live, .replay: return response
        }
    }

    /// Returns what files are compared with, and the request as it goes out. If a file may respond to it, its body is
    /// read first; else it is looked at while it passes.
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

    /// Reads a body. One that may go out later is kept in memory.
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

    /// The body of a request, as far as it was sent.
    private final class Seen: Sendable {
        private let state = Mutex(FixtureBody())

        var body: FixtureBody { state.withLock { $0 } }

        @Sendable func append(_ part: UnsafeRawBufferPointer) { state.withLock { $0.append(part) } }
    }
}

extension ByteStream {
    /// The same parts, each of which is looked at when it is taken.
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
