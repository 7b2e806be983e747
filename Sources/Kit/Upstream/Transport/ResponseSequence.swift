/// Decides which parts of a response may reach async-http-client, which ends the process on a sequence that it does not
/// expect (RFC 9110 §15: interim responses, then one final response).
///
/// A value; ``ResponseGuard`` applies it to a connection.
struct ResponseSequence: Sendable, Equatable {
    /// Largest number of interim responses before the final one: enough for a `102 Processing` every few seconds, and a
    /// bound for an endless sequence of them.
    static let mostInterim = 64

    /// A part as the decoder gives it.
    enum Part: Sendable, Equatable {
        /// Status line and header fields of an interim or a final response, and their violation.
        case head(status: Int, violation: Violation? = nil)
        /// Bytes of the body.
        case body
        /// The end of a final response, trailers included. An interim response has none.
        case end
    }

    /// Why a response is refused. The connection cannot be used any more.
    enum Violation: Error, Sendable, Equatable {
        /// A status below 100, which RFC 9110 does not define.
        case status(Int)
        /// 101, although no request offered an upgrade (RFC 9110 §7.8).
        case switchingProtocols
        /// More than ``mostInterim`` interim responses.
        case tooManyInterim
        /// A part that was not expected.
        case outOfOrder
        /// A field of more than 16 KiB, or a head of more than 64 KiB.
        case headTooLarge
        /// A `Content-Length` that is not the length of any body.
        case contentLength
        /// A transfer coding other than `chunked`, which no request has accepted (RFC 9112 §7.4): passed on, the body
        /// would be one that the upstream has not sent.
        case transferCoding
    }

    /// The verdict on a part.
    enum Verdict: Sendable, Equatable {
        case pass
        /// The part is not passed on, and the connection ends with this error.
        case refuse(Violation)
        /// The part follows one that was refused.
        case drop
    }

    private enum State: Sendable, Equatable {
        case idle
        case waiting(interim: Int)
        case body
        case refused
    }

    private var state = State.idle

    /// Whether a request was sent and no part of a response has been received.
    var awaitsResponse: Bool { state == .waiting(interim: 0) }

    /// Records that a request has been sent. The next response belongs to it.
    mutating func requestSent() {
        if state == .idle { state = .waiting(interim: 0) }
    }

    /// Decides on the next part.
    mutating func receive(_ part: Part) -> Verdict {
        switch (state, part) {
        case (.refused, _): return .drop
        case (.waiting, .head(_, let violation?)): return refuse(violation)
        case (.waiting(let interim), .head(let status, nil)): return head(status, after: interim)
        case (.body, .body): return .pass
        case (.body, .end):
            state = .idle
            return .pass
        case (.idle, _), (.waiting, _), (.body, .head): return refuse(.outOfOrder)
        }
    }

    private mutating func head(_ status: Int, after interim: Int) -> Verdict {
        switch status {
        case 101: return refuse(.switchingProtocols)
        case 100..<200:
            guard interim < Self.mostInterim else { return refuse(.tooManyInterim) }
            state = .waiting(interim: interim + 1)
            return .pass
        case ..<100: return refuse(.status(status))
        default:
            state = .body
            return .pass
        }
    }

    private mutating func refuse(_ violation: Violation) -> Verdict {
        state = .refused
        return .refuse(violation)
    }
}

extension ResponseSequence.Violation: CustomStringConvertible {
    /// The violation, as text of ``UpstreamError/badResponse(status:reason:)``.
    var description: String {
        switch self {
        case .status(let status): "status \(status)"
        case .switchingProtocols: "a protocol that was not asked for"
        case .tooManyInterim: "more than \(ResponseSequence.mostInterim) interim responses"
        case .outOfOrder: "a response to no request"
        case .headTooLarge: "header fields of more than 64 KiB, or one of more than 16 KiB"
        case .contentLength: "a Content-Length that is no length"
        case .transferCoding: "a transfer coding that was not asked for"
        }
    }
}
