import HTTPTypes

/// What is sent to the client after a fault was applied to the upstream's response.
enum FaultOutcome: Sendable, Equatable {
    case whole(UpstreamResponse)
    /// The head is complete, the body is cut off.
    case truncated(UpstreamResponse)
    /// The rest of the body waits after that many bytes of it.
    case paused(UpstreamResponse, after: Int)
    /// No byte.
    case none

    /// - Parameter decision: waiting decisions (`delay`, `hold`) have been waited for and mean a response.
    init(_ decision: FaultDecision, upstream: any SimulatedUpstream, request: UpstreamRequest) {
        switch decision {
        case .response, .delay, .hold: self = .whole(upstream.respond(to: request))
        case .reset: self = .none
        case .status(let code, let retryAfter):
            let status = HTTPResponse.Status(code: code)
            var response =
                upstream.refusal(status) ?? UpstreamResponse.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            response.headers[.retryAfter] = retryAfter.map { String($0) }
            self = .whole(response)
        case .html(let code): self = .whole(Self.page(HTTPResponse.Status(code: code)))
        case .truncate: self = .truncated(upstream.respond(to: request.unconditional))
        case .pause(let bytes): self = .paused(upstream.respond(to: request.unconditional), after: bytes)
        case .garble:
            var response = upstream.respond(to: request.unconditional)
            response.status = .ok
            response.headers[.eTag] = nil
            response.body = Self.garbage
            response.stream = nil
            response.headers[.contentRange] = nil
            self = .whole(response)
        }
    }

    /// The page of a server that is not the upstream.
    private static func page(_ status: HTTPResponse.Status) -> UpstreamResponse {
        let title = "\(status.code) \(status.reasonPhrase)".trimmed
        var response = UpstreamResponse.text(
            status,
            "<html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>\n"
        )
        response.headers[.contentType] = "text/html"
        return response
    }

    /// Neither JSON, nor UTF-8, nor a picture.
    static let garbage: [UInt8] = Array(#"{"garbage":["#.utf8) + [0xFF, 0xFE, 0x00, 0xC3, 0x28] + Array("<html>".utf8)

    /// As the journal shows it.
    var status: Int? {
        switch self {
        case .whole(let response), .truncated(let response), .paused(let response, _): Int(response.status.code)
        case .none: nil
        }
    }
}

extension UpstreamRequest {
    /// The request without its conditions: a fault of the body needs a response with a body.
    fileprivate var unconditional: UpstreamRequest {
        var request = self
        request.headers[.ifNoneMatch] = nil
        request.headers[.ifModifiedSince] = nil
        return request
    }
}
