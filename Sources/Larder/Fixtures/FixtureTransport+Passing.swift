import Concurrency
import Foundation
import HTTPTypes
import NIOCore
import Sandbox
import Upstream

// What is done with responses that pass.
extension FixtureTransport {
    /// Collects a response while it passes, and then calls `end` with the whole of it.
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
            // Who knows the length may not ask for the end.
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

    func keeping(_ response: StreamedResponse, of asked: @escaping @Sendable () -> FixtureRequest)
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

    /// Applies patches. Only a response whose body is patched is collected before.
    func modified(_ response: StreamedResponse, of asked: FixtureRequest) async throws(UpstreamError)
        -> StreamedResponse
    {
        let collected = Collected()
        var fixture = FixtureResponse(
            status: response.status,
            headerFields: response.headerFields,
            content: .bytes([])
        )
        do {
            try await fixtures.modify(&fixture, to: asked) { fixture in
                let body = try await response.body.collect(upTo: maximumBytes)
                fixture.content = .bytes(Array(body.readableBytesView))
                collected.isDone = true
            }
        } catch is NIOTooManyBytesError {
            throw .badResponse(status: response.status, reason: "more than \(maximumBytes) bytes to modify")
        } catch {
            throw error as? UpstreamError ?? .badResponse(status: response.status, reason: "the body was truncated")
        }
        guard collected.isDone else {
            return StreamedResponse(
                status: fixture.status,
                headerFields: fixture.headerFields,
                body: response.body
            )
        }
        return Self.streamed(fixture)
    }

    private final class Collected { var isDone = false }
}
