import NIOCore
import NIOHTTP1

/// The response of the exchange under way.
extension ConnectionState {
    enum ResponseHeadAction: Equatable {
        case pass
        /// The head has to say what the connection will do.
        case rewrite(HTTPResponseHead)
        /// No client waits for this response.
        case drop
    }

    /// The application has begun its response.
    mutating func responseHead(_ head: HTTPResponseHead) -> ResponseHeadAction {
        guard case .exchange(var exchange) = phase, exchange.responseBody == nil else { return .drop }
        if head.status.code < 200 { return exchange.version == .http1_1 ? .pass : .drop }
        let hasBody = !exchange.isHEAD && head.status != .noContent && head.status != .notModified
        exchange.responseBody = hasBody ? .allowed : ResponseBody.none
        exchange.keepsAlive = exchange.keepsAlive && exchange.isReceived && !isQuiescing
        if head.headers.contains(name: "Connection"),
            head.headers[canonicalForm: "Connection"].contains(where: { $0.lowercased() == "close" })
        {
            exchange.keepsAlive = false
        }
        defer { phase = .exchange(exchange) }
        if exchange.version == .http1_1, exchange.keepsAlive { return .pass }

        var head = head
        if exchange.version == .http1_0 {
            // A 1.0 client knows no chunks: a body of unknown length ends with the connection (RFC 9112 section 6.3).
            head.version = .http1_0
            head.headers.remove(name: "Transfer-Encoding")
            if hasBody, !head.headers.contains(name: "Content-Length") { exchange.keepsAlive = false }
        }
        head.headers.replaceOrAdd(name: "Connection", value: exchange.keepsAlive ? "keep-alive" : "close")
        return .rewrite(head)
    }

    /// Whether the head of the final response has been passed on.
    var isResponseBegun: Bool {
        if case .exchange(let exchange) = phase { exchange.responseBody != nil } else { false }
    }

    /// Whether a piece of a response's body is written.
    var forwardsResponseBody: Bool {
        if case .exchange(let exchange) = phase { exchange.responseBody == .allowed } else { false }
    }

    enum ResponseEndAction: Equatable {
        /// Write the end if there is a body to end, then take the next request.
        case keepAlive(endsBody: Bool)
        /// Write it, and close once the client has taken it.
        case drain(endsBody: Bool)
        case drop
    }

    /// The application has ended its response.
    mutating func responseEnded(now: NIODeadline) -> ResponseEndAction {
        guard case .exchange(let exchange) = phase, let body = exchange.responseBody else { return .drop }
        // A response without a body ends with its head: ending it again would write the last chunk of a body that is
        // not there.
        let endsBody = body == .allowed
        guard exchange.keepsAlive, exchange.isReceived, !isQuiescing else {
            phase = .draining(lingers: true)
            return .drain(endsBody: endsBody)
        }
        phase = .idle(since: now)
        return .keepAlive(endsBody: endsBody)
    }
}
