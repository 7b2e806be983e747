import HTTPTypes
import Hummingbird
import NIOCore

/// The connection is gone by intent; Hummingbird finds nothing left to write to.
struct ConnectionReset: Error {}

/// An answer is cut off by intent.
struct AnswerTruncated: Error {}

/// `struct linger` of socket(7), which no Swift module exports under member import visibility: on, for 0 seconds.
private struct Linger: Sendable {
    let isOn: CInt = 1
    let seconds: CInt = 0
}

extension UpstreamCall {
    /// Closes the connection with a reset: with `SO_LINGER` 0 the kernel sends RST instead of FIN, as from a host that
    /// knows no such connection.
    /// - Returns: the error to throw, so that the caller answers nothing.
    func reset() async -> any Error {
        do {
            try await (context.channel as? any SocketOptionProvider)?.unsafeSetSocketOption(
                level: .socket,
                name: .so_linger,
                value: Linger()
            ).get()
            try await context.channel.close().get()
        } catch {
            // The client was faster and the connection is closed already: which is what was asked for.
            return error
        }
        return ConnectionReset()
    }

    func response(_ outcome: FaultOutcome, to method: HTTPRequest.Method) async throws -> Response {
        switch outcome {
        case .whole(let answer): return SandboxResponder.response(answer, to: method)
        case .none: throw await reset()
        case .truncated(let answer):
            // Without a body there is no middle to close in, so not even the head leaves.
            guard method != .head, answer.length > 0 else { throw await reset() }
            let body = ResponseBody(contentLength: answer.length) { writer in
                try await answer.write(0..<answer.length / 2, to: &writer)
                throw AnswerTruncated()
            }
            return Response(status: answer.status, headers: answer.headers, body: body)
        case .paused(let answer, let after):
            guard method != .head, after < answer.length else { return SandboxResponder.response(answer, to: method) }
            let body = ResponseBody(contentLength: answer.length) { writer in
                try await answer.write(0..<after, to: &writer)
                try await pause()
                try await answer.write(after..<answer.length, to: &writer)
                try await writer.finish(nil)
            }
            return Response(status: answer.status, headers: answer.headers, body: body)
        }
    }

    /// Waits in the middle of an answer until it is released; what then stands before the upstream may still cut it
    /// off.
    private func pause() async throws {
        let ticket = place.gate.hold()
        context.channel.closeFuture.whenComplete { _ in ticket.released.cancel() }
        do {
            defer { place.gate.leave(ticket) }
            try await ticket.released.wait()
        } catch {
            throw await reset()
        }
        switch place.gate.readmit().decision {
        case .reset: throw await reset()
        case .truncate: throw AnswerTruncated()
        default: return
        }
    }
}
