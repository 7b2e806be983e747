import HTTPSemantics
public import HTTPTypes

/// What goes along with the requests to upstreams that are made for a client's request: its identity, `X-Request-Id`,
/// `traceparent` and `tracestate` (W3C Trace Context) if the client sent them, and `Sandbox-Fault` to simulated
/// upstreams.
public struct RequestTrace: Sendable, Equatable {
    /// That of the request that the current task serves; tasks that it starts have it as well.
    @TaskLocal public static var current: RequestTrace?

    /// Value of `X-Request-Id`.
    public let requestID: String
    /// Identity of the client's trace, 32 hexadecimal digits; nil if the request belongs to none.
    public let traceID: String?
    /// `traceparent` for upstreams, with a span of Larder's own.
    let traceparent: String?
    let tracestate: String?
    /// `Sandbox-Fault`: what is to be wrong with the responses of simulated upstreams to this request.
    let fault: String?

    /// Reads the trace of a request. A `traceparent` that is malformed is ignored (§3.2.2.5).
    /// - Parameters:
    ///   - requestID: the identity of the request
    ///   - fields: its header fields
    ///   - spanID: returns a random number other than 0
    public init(requestID: String, _ fields: HTTPFields, spanID: () -> UInt64) {
        self.requestID = requestID
        let faults = fields[values: .sandboxFault]
        fault = faults.isEmpty ? nil : faults.joined(separator: ", ")
        let values = fields[values: .traceparent]
        guard values.count == 1, let parent = TraceParent(values[0]) else {
            (traceID, traceparent, tracestate) = (nil, nil, nil)
            return
        }
        let span = String(spanID(), radix: 16)
        traceID = parent.traceID
        traceparent = "00-\(parent.traceID)-\(String(repeating: "0", count: 16 - span.count))\(span)-\(parent.flags)"
        let states = fields[values: .tracestate]
        tracestate = states.isEmpty ? nil : states.joined(separator: ",")
    }

    /// Writes the fields of a request to an upstream.
    func mark(_ fields: inout HTTPFields) {
        fields[.requestIdentity] = requestID
        if let traceparent { fields[.traceparent] = traceparent }
        if let tracestate { fields[.tracestate] = tracestate }
    }

    /// Writes the fault of a request to a simulated upstream. What is sent after the response, as in the background, is
    /// not caused by the request any more.
    func markFault(_ fields: inout HTTPFields) {
        if let fault, RequestScope.current?.isActive == true { fields[.sandboxFault] = fault }
    }
}

extension HTTPField.Name {
    /// `Sandbox-Fault`, of the sandbox.
    public static let sandboxFault = HTTPField.Name(literal: "Sandbox-Fault")
    /// `X-Request-Id`, a convention.
    fileprivate static let requestIdentity = HTTPField.Name(literal: "X-Request-Id")
    /// `traceparent`, W3C Trace Context §3.2.
    static let traceparent = HTTPField.Name(literal: "traceparent")
    /// `tracestate`, W3C Trace Context §3.3.
    static let tracestate = HTTPField.Name(literal: "tracestate")
}
