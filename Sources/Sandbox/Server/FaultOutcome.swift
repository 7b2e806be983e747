import Foundation
import HTTPTypes

/// What is sent to the client after faults were applied to the upstream's response.
struct FaultOutcome: Sendable, Equatable {
    /// nil if not a byte is sent.
    let response: UpstreamResponse?
    let delivery: Delivery

    /// - Parameter decision: its waits are over.
    init(_ decision: FaultDecision, upstream: any SimulatedUpstream, request: UpstreamRequest) {
        delivery = decision.delivery
        switch decision.source {
        case .upstream:
            let request = delivery.end == .whole ? request : request.unconditional
            response = upstream.respond(to: request)
        case .none: response = nil
        case .status(let code, let retryAfter):
            upstream.breakOff(request)
            let status = HTTPResponse.Status(code: code)
            var refusal =
                upstream.refusal(status) ?? UpstreamResponse.text(status, "\(code) \(status.reasonPhrase)".trimmed)
            refusal.headers[.retryAfter] = retryAfter.map { String($0) }
            response = refusal
        case .html(let code):
            upstream.breakOff(request)
            response = Self.page(HTTPResponse.Status(code: code))
        case .garbage:
            var garbled = upstream.respond(to: request.unconditional)
            garbled.status = .ok
            garbled.headers[.eTag] = nil
            garbled.body = Self.garbage
            garbled.stream = nil
            garbled.headers[.contentRange] = nil
            response = garbled
        }
    }

    /// The page of a server that is not the upstream.
    static func page(_ status: HTTPResponse.Status) -> UpstreamResponse {
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

    /// Adds the response to the request's entry in the journal, if there is one.
    func complete(_ entry: inout JournalEntry, of request: UpstreamRequest, at now: Date) {
        guard let response else { return }
        let bytes = request.method == .head ? 0 : delivery.sentBytes(of: response.length)
        entry.respond(response.status.code, bytes: bytes, at: now)
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
