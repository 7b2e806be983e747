import HTTPSemantics
import HTTPTypes
import NIOHTTP1

/// A request head that was accepted, with what the connection needs to know of it.
struct AcceptedHead: Equatable {
    /// The head to pass on: target in origin-form, `Connection` normalised to `close` where the connection ends with
    /// this request.
    var head: HTTPRequestHead
    /// Whether ``head`` differs from what was received.
    var isRewritten: Bool
    /// Whether the client lets the connection live on (RFC 9112 section 9.3).
    var keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends its body (RFC 9110 section 10.1.1).
    var expectsContinue: Bool
}

/// Decides which request heads are accepted. What can be read in two ways is refused, since another program may read it
/// the other way.
struct RequestHeadRules {
    private let limits: ConnectionLimits
    private let security: ConnectionSecurity

    /// Rules with these limits of sizes and counts.
    init(limits: ConnectionLimits, security: ConnectionSecurity = .clearText) {
        self.limits = limits
        self.security = security
    }

    /// Returns the head as it may be passed on, or the refusal.
    func judge(_ head: HTTPRequestHead) -> Result<AcceptedHead, ConnectionRefusal> {
        if let tooLarge = sizeRefusal(head) { return .failure(tooLarge) }
        guard head.version == .http1_1 || head.version == .http1_0 else {
            return .failure(.malformed("Only HTTP/1.1 and HTTP/1.0 are spoken here."))
        }
        var fields = FramingFields()
        for (name, value) in head.headers {
            if let refusal = fields.note(name: name, value: value) { return .failure(refusal) }
        }
        if let refusal = fields.contradiction(version: head.version) { return .failure(refusal) }
        if let refusal = security.refusal(head) { return .failure(refusal) }
        return accept(head, fields)
    }

    /// Returns a head whose fields are acceptable as it may be passed on, unless its target is not.
    private func accept(_ head: HTTPRequestHead, _ fields: FramingFields) -> Result<AcceptedHead, ConnectionRefusal> {
        var accepted = head
        var isRewritten = false
        switch RequestTarget(uri: head.uri, isOptions: head.method == .OPTIONS, scheme: security.scheme) {
        case .origin:
            break
        case .absolute(let authority, let origin):
            accepted.uri = origin
            accepted.headers.replaceOrAdd(name: "Host", value: authority)
            isRewritten = true
        case .invalid(let detail):
            return .failure(.malformed(detail))
        }
        // The decoder reads nothing after a CONNECT, so the connection ends with it, whatever the response is.
        let keepsAlive = fields.keepsAlive(version: head.version) && head.method != .CONNECT
        if !keepsAlive {
            // Fields that `Connection` names concern this connection only (RFC 9110 section 7.6.1). Their names are
            // lost here, so they are as well.
            for name in HopByHop.nominated(inLines: head.headers[canonicalForm: "Connection"].map(String.init)) {
                accepted.headers.remove(name: name.rawName)
            }
            accepted.headers.replaceOrAdd(name: "Connection", value: "close")
            isRewritten = true
        }
        // A 1.0 client cannot know of interim responses: its Expect is ignored (RFC 9110 section 10.1.1).
        let expectsContinue = fields.expectsContinue && fields.hasBody && head.version == .http1_1
        return .success(
            AcceptedHead(
                head: accepted,
                isRewritten: isRewritten,
                keepsAlive: keepsAlive,
                expectsContinue: expectsContinue
            )
        )
    }

    private func sizeRefusal(_ head: HTTPRequestHead) -> ConnectionRefusal? {
        guard head.uri.utf8.count <= limits.urlBytes else {
            return .targetTooLong("The request target is longer than \(limits.urlBytes) bytes.")
        }
        guard head.headers.count <= limits.headerCount else {
            return .headersTooLarge("The request has more than \(limits.headerCount) header fields.")
        }
        // Request line: method, target, two spaces, version and line end. Field line: name, colon, space, value and
        // line end.
        var bytes = head.method.rawValue.utf8.count + head.uri.utf8.count + 12
        for (name, value) in head.headers { bytes += name.utf8.count + value.utf8.count + 4 }
        guard bytes <= limits.headerBytes else {
            return .headersTooLarge("The request head is larger than \(limits.headerBytes) bytes.")
        }
        return nil
    }
}

/// A refusal is the failure of judging a head.
extension ConnectionRefusal: Error {}
