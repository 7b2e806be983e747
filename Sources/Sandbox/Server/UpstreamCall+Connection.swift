import HTTPTypes
import Hummingbird
import NIOCore

/// The connection was closed on purpose; Hummingbird writes no response.
struct ConnectionReset: Error {}

/// A response was cut off on purpose.
struct ResponseTruncated: Error {}

/// `struct linger` of socket(7), which no Swift module exports under member import visibility: on, for 0 seconds.
private struct Linger: Sendable {
    let isOn: CInt = 1
    let seconds: CInt = 0
}

extension UpstreamCall {
    /// Closes the connection with a reset: with `SO_LINGER` 0 the kernel sends RST instead of FIN, as from a host that
    /// knows no such connection.
    /// - Returns: The error to throw, so that the caller sends no response.
    func reset() async -> any Error {
        do {
            try await (context.channel as? any SocketOptionProvider)?.unsafeSetSocketOption(
                level: .socket,
                name: .so_linger,
                value: Linger()
            ).get()
            try await context.channel.close().get()
        } catch {
            // The client has closed the connection already, which has the same effect.
            return error
        }
        return ConnectionReset()
    }

    func response(_ outcome: FaultOutcome, to method: HTTPRequest.Method) async throws -> Response {
        switch outcome {
        case .whole(let response): return SandboxResponder.response(response, to: method)
        case .none: throw await reset()
        case .truncated(let response):
            // Without a body there is nothing to cut off, so not even the head is sent.
            guard method != .head, response.length > 0 else { throw await reset() }
            let body = ResponseBody(contentLength: response.length) { writer in
                try await response.write(0..<response.length / 2, to: &writer)
                throw ResponseTruncated()
            }
            return Response(status: response.status, headers: response.headers, body: body)
        case .paused(let response, let after):
            guard method != .head, after < response.length else {
                return SandboxResponder.response(response, to: method)
            }
            let body = ResponseBody(contentLength: response.length) { writer in
                try await response.write(0..<after, to: &writer)
                try await pause()
                try await response.write(after..<response.length, to: &writer)
                try await writer.finish(nil)
            }
            return Response(status: response.status, headers: response.headers, body: body)
        }
    }

    /// Waits in the middle of a response until it is released; the upstream's fault at that time may still cut it
    /// off.
    private func pause() async throws {
        let ticket = slot.gate.hold()
        context.channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        do {
            defer { slot.gate.leave(ticket) }
            try await ticket.released.wait()
        } catch {
            throw await reset()
        }
        switch slot.gate.readmit().decision {
        case .reset: throw await reset()
        case .truncate: throw ResponseTruncated()
        default: return
        }
    }
}
