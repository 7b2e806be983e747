import Foundation
import Freshness
import HTTPSemantics
public import HTTPTypes
import Synchronization

/// A client's request, as the requests to upstreams that it causes know it: its identity, which goes on to the
/// upstreams, and the time since when it has made them wait.
///
/// The server sets ``current`` for the tasks of a request. Until the response is ready, all requests to one upstream
/// (refresh of a token, links, redirects, reads after a write) end within one `total_timeout_ms`.
public final class RequestScope: Sendable {
    /// The request that the running task belongs to.
    @TaskLocal public static var current: RequestScope?

    private static let requestIDField = HTTPField.Name(literal: "X-Request-Id")
    private static let traceParent = HTTPField.Name(literal: "traceparent")
    private static let traceState = HTTPField.Name(literal: "tracestate")

    private struct State {
        var firstExchange: Date?
        var isOver = false
    }

    /// Fields that every request to an upstream's own origin gets: `X-Request-Id`, `traceparent`, `tracestate`.
    public let headerFields: HTTPFields
    private let state = Mutex(State())

    /// Creates the scope of a request.
    ///
    /// - Parameters:
    ///   - requestID: Identity of the request.
    ///   - clientFields: The client's header fields, of which those of W3C Trace Context are passed on.
    public init(requestID: String, clientFields: HTTPFields = [:]) {
        var fields: HTTPFields = [Self.requestIDField: requestID]
        if let parent = clientFields[Self.traceParent], Self.isTraceParent(parent) {
            fields[Self.traceParent] = parent
            fields[values: Self.traceState] = clientFields[values: Self.traceState]
        }
        headerFields = fields
    }

    /// Records that the response is ready: what continues has deadlines of its own.
    public func end() { state.withLock { $0.isOver = true } }

    /// Returns when requests to an upstream end that began or begin now; nil after ``end()``.
    func deadline(_ timeout: Duration, at now: Date) -> Date? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            let first = state.firstExchange ?? now
            state.firstExchange = first
            return first.addingTimeInterval(timeout.seconds)
        }
    }

    /// Adds time to all deadlines: that in which a client has sent a body.
    func extend(by seconds: TimeInterval) {
        state.withLock { $0.firstExchange?.addTimeInterval(seconds) }
    }

    /// Whether a value has the form of W3C Trace Context §3.2: version, trace, parent, flags.
    static func isTraceParent(_ value: String) -> Bool {
        let parts = value.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isLowerHex = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        return parts.map(\.count) == [2, 32, 16, 2] && parts.allSatisfy { $0.allSatisfy(isLowerHex) }
            && !parts[0].elementsEqual("ff".utf8) && parts[1...2].allSatisfy { $0.contains { $0 != 0x30 } }
    }
}
