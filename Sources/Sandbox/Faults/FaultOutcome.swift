import HTTPTypes

/// What leaves for the client after a fault has done its work on the upstream's answer.
enum FaultOutcome: Sendable, Equatable {
    case whole(Answer)
    /// The head is whole, the body ends in its middle.
    case truncated(Answer)
    /// The rest of the body waits after that many bytes of it.
    case paused(Answer, after: Int)
    /// No byte.
    case none

    /// - Parameter decision: waiting decisions (`delay`, `hold`) have been waited for and mean an answer.
    init(_ decision: FaultDecision, upstream: any SimulatedUpstream, request: UpstreamRequest) {
        switch decision {
        case .answer, .delay, .hold: self = .whole(upstream.answer(request))
        case .reset: self = .none
        case .status(let code, let retryAfter):
            let status = HTTPResponse.Status(code: code)
            var answer = upstream.refusal(status) ?? Answer.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            answer.headers[.retryAfter] = retryAfter.map { String($0) }
            self = .whole(answer)
        case .html(let code): self = .whole(Self.page(HTTPResponse.Status(code: code)))
        case .truncate: self = .truncated(upstream.answer(request.unconditional))
        case .pause(let bytes): self = .paused(upstream.answer(request.unconditional), after: bytes)
        case .garble:
            var answer = upstream.answer(request.unconditional)
            answer.status = .ok
            answer.headers[.eTag] = nil
            answer.body = Self.garbage
            answer.stream = nil
            answer.headers[.contentRange] = nil
            self = .whole(answer)
        }
    }

    /// What a server says that is not the upstream.
    private static func page(_ status: HTTPResponse.Status) -> Answer {
        let title = "\(status.code) \(status.reasonPhrase)".trimmed
        var answer = Answer.text(
            status,
            "<html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        )
        answer.headers[.contentType] = "text/html"
        return answer
    }

    /// Neither JSON, nor UTF-8, nor a picture.
    static let garbage: [UInt8] = Array(#"{"garbage":["#.utf8) + [0xFF, 0xFE, 0x00, 0xC3, 0x28] + Array("<html>".utf8)

    /// As the journal shows it.
    var status: Int? {
        switch self {
        case .whole(let answer), .truncated(let answer), .paused(let answer, _): Int(answer.status.code)
        case .none: nil
        }
    }
}

extension UpstreamRequest {
    /// The request without its conditions: a fault of the body needs an answer with a body.
    fileprivate var unconditional: UpstreamRequest {
        var request = self
        request.headers[.ifNoneMatch] = nil
        request.headers[.ifModifiedSince] = nil
        return request
    }
}
