import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// The application wants the body of the request under way, which a client may hold back until `100 Continue` (RFC 9110
/// §10.1.1).
struct BodyDemand: Sendable {}

/// Lets a request's body be read until its response has ended, and no longer.
///
/// After a response Hummingbird reads the rest of the body itself. Another task may still be reading it: an upload to
/// an upstream that has responded before it had taken everything waits for the next part. NIO's sequence ends the
/// process if there are two readers.
final class ExclusiveBodyReader: @unchecked Sendable {
    private struct State {
        var isReading = false
        var isClosed = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
    /// Used by the task that has set `isReading`.
    private var iterator: RequestBody.AsyncIterator
    /// Notifies the connection, once, that the body is wanted; nil if its client does not wait for that.
    private var demand: (() -> Void)?

    init(_ body: RequestBody, demand: (() -> Void)? = nil) {
        iterator = body.makeAsyncIterator()
        self.demand = demand
    }

    /// Wraps a responder: once it returns, no task reads the body of its request.
    static func guarding(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            // Without a body there is nothing to wait for.
            guard
                request.headers.contains(.transferEncoding)
                    || request.headers[.contentLength].map({ $0 != "0" }) ?? false
            else {
                return try await responder(request, writer, channel)
            }
            let expectsContinue = request.headers.contains(.expect)
            let gate = ExclusiveBodyReader(
                request.body,
                demand: expectsContinue ? { channel.triggerUserOutboundEvent(BodyDemand(), promise: nil) } : nil
            )
            var request = request
            request.body = RequestBody(asyncSequence: Parts(gate: gate))
            do {
                try await responder(request, writer, channel)
            } catch {
                await gate.close()
                throw error
            }
            await gate.close()
        }
    }

    /// Returns the next part of the body.
    /// - Throws: `CancellationError` if the response has ended or another task is reading.
    fileprivate func next() async throws -> ByteBuffer? {
        let mayRead = state.withLock { state in
            if state.isClosed || state.isReading { return false }
            state.isReading = true
            return true
        }
        guard mayRead else { throw CancellationError() }
        defer {
            let waiting = state.withLock { state in
                state.isReading = false
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }
        demand?()
        demand = nil
        return try await iterator.next()
    }

    /// Ends reading. A task that is reading has until the client has sent its next part or the connection has ended,
    /// which its deadlines bound.
    private func close() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.isClosed = true
                if state.isReading { state.waiting = continuation }
                return !state.isReading
            }
            if isFree { continuation.resume() }
        }
    }

    /// The body as its reader sees it.
    private struct Parts: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            let gate: ExclusiveBodyReader

            mutating func next() async throws -> ByteBuffer? { try await gate.next() }
        }

        let gate: ExclusiveBodyReader

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(gate: gate) }
    }
}

/// Thrown to the reader of a request body that will never be complete. Without it a truncated upload would look like a
/// whole one.
package enum RequestBodyError: Error, Equatable {
    /// The client closed the connection within the body.
    case truncated
    /// ``ConnectionLimits/bodyDeadline`` or `ConnectionLimits.bodyIdle` has passed.
    case timedOut
    /// The framing of the body is broken.
    case malformed
}
