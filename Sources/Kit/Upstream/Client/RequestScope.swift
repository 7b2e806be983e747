import Concurrency
import Foundation
import HTTP
package import HTTPTypes
import Synchronization

/// A client's request and the time since when it waits for upstreams, for the requests that it causes.
///
/// The server sets ``current`` for the tasks of a request. Until the response is ready, all requests to one upstream
/// (refresh of a token, links, redirects, reads after a write) end within one `total_timeout_ms`.
package final class RequestScope: Sendable {
    /// The request that the running task belongs to.
    @TaskLocal package static var current: RequestScope?

    private struct State {
        var firstExchange: Date?
        var isOver = false
        var following: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Records that the response is ready: continuing work has deadlines of its own. Work that was to follow is
    /// started.
    package func end() {
        let following = state.withLock { state in
            state.isOver = true
            defer { state.following = [] }
            return state.following
        }
        for start in following { start() }
    }

    /// Starts work in the background after the response, so that its requests to upstreams and its events follow those
    /// of this request; at once if the response is ready.
    func follow(_ start: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.following.append(start) }
            return state.isOver
        }
        if isOver { start() }
    }

    /// Whether the response is still being made.
    var isActive: Bool { state.withLock { !$0.isOver } }

    /// Returns when requests to an upstream end that began or begin now; nil after ``end()``.
    func deadline(_ timeout: Duration, at now: Date) -> Date? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            let first = state.firstExchange ?? now
            state.firstExchange = first
            return first.addingTimeInterval(timeout.seconds)
        }
    }

    /// Adds time to all deadlines: that in which a client has sent a body, or that of a wait with its own limit.
    package func extend(by seconds: Double) {
        state.withLock { $0.firstExchange?.addTimeInterval(seconds) }
    }
}

/// Why requests are sent to upstreams: for the journal of simulated ones, and for the one of the server that is tested.
package enum RequestCause: Sendable {
    /// A client's request, by its number in the server's journal. `waits` is called with true when the request begins
    /// to wait for an upstream, with false when it waits no more.
    case request(Int, waits: @Sendable (Bool) -> Void)
    /// It was time to look whether the upstream responds again.
    case probe
    /// The upstream responds again, and the data of its screens is refreshed.
    case refresh

    /// That of the running task, and of the tasks that it starts; nil in a server that is not tested.
    @TaskLocal package static var current: RequestCause?

    /// Writes the cause of the running task into a request to a simulated upstream.
    static func mark(_ fields: inout HTTPFields) {
        fields[.larderCause] =
            switch current {
            case .request(let number, _): String(number)
            case .probe: "probe"
            case .refresh: "refresh"
            case nil: nil
            }
    }

    /// The observer of the waits of the running task's request; nil if there is none.
    static var waits: (@Sendable (Bool) -> Void)? {
        if case .request(_, let waits) = current { waits } else { nil }
    }
}

extension HTTPField.Name {
    /// `Larder-Cause`, which only simulated upstreams get.
    static let larderCause = HTTPField.Name(literal: "Larder-Cause")
}

/// Values that are sent with the requests to upstreams for a client's request. They are its identity, `X-Request-Id`,
/// `traceparent` and `tracestate` (W3C Trace Context) if the client sent them, and `Sandbox-Fault` to simulated
/// upstreams.
package struct RequestTrace: Sendable, Equatable {
    /// That of the request that the current task serves; tasks that it starts have it as well.
    @TaskLocal package static var current: RequestTrace?

    /// Value of `X-Request-Id`.
    let requestID: String
    /// Identity of the client's trace, 32 hexadecimal digits; nil if the request belongs to none.
    package let traceID: String?
    /// `traceparent` for upstreams, with a span of Larder's own.
    let traceparent: String?
    let tracestate: String?
    /// `Sandbox-Fault`: the fault of the responses of simulated upstreams to this request.
    let fault: String?

    /// Reads the trace of a request. A `traceparent` that is malformed is ignored (§3.2.2.5).
    /// - Parameters:
    ///   - spanID: returns a random number other than 0
    package init(requestID: String, _ fields: HTTPFields, spanID: () -> UInt64) {
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

    /// Writes the fault of a request to a simulated upstream. A request that is sent after the response, as in the
    /// background, is not caused by the request any more.
    func markFault(_ fields: inout HTTPFields) {
        if let fault, RequestScope.current?.isActive == true { fields[.sandboxFault] = fault }
    }
}

extension HTTPField.Name {
    /// `Sandbox-Fault`, of the sandbox.
    package static let sandboxFault = HTTPField.Name(literal: "Sandbox-Fault")
    /// `X-Request-Id`, a convention.
    fileprivate static let requestIdentity = HTTPField.Name(literal: "X-Request-Id")
    /// `traceparent`, W3C Trace Context §3.2.
    static let traceparent = HTTPField.Name(literal: "traceparent")
    /// `tracestate`, W3C Trace Context §3.3.
    static let tracestate = HTTPField.Name(literal: "tracestate")
}

extension HTTPFields {
    /// Adds `User-Agent`, which RFC 9110 §10.1.5 asks of every user agent; services may refuse requests without it.
    mutating func nameUserAgent() {
        if self[.userAgent] == nil { self[.userAgent] = "Larder" }
    }

    /// Removes credentials. They belong to the upstream's own origin and never leave for another.
    mutating func removeCredentials() {
        for name in [.authorization, .cookie, .apiKey] as [HTTPField.Name] { self[name] = nil }
    }
}

extension HTTPField.Name {
    /// `X-API-Key`: the credential of services without a scheme of RFC 9110.
    package static let apiKey = HTTPField.Name(literal: "X-API-Key")
}
