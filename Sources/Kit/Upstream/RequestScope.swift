import Foundation
import Freshness
import Synchronization

/// A client's request, as the requests to upstreams that it causes know it: the time since when it waits for them.
///
/// The server sets ``current`` for the tasks of a request. Until the response is ready, all requests to one upstream
/// (refresh of a token, links, redirects, reads after a write) end within one `total_timeout_ms`.
public final class RequestScope: Sendable {
    /// The request that the running task belongs to.
    @TaskLocal public static var current: RequestScope?

    private struct State {
        var firstExchange: Date?
        var isOver = false
        var following: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Creates the scope of a request.
    public init() {}

    /// Records that the response is ready: what continues has deadlines of its own. What was to follow is started.
    public func end() {
        let following = state.withLock { state in
            state.isOver = true
            defer { state.following = [] }
            return state.following
        }
        for start in following { start() }
    }

    /// Starts work in the background behind the response, so that its requests to upstreams and its events follow those
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

    /// Adds time to all deadlines: that in which a client has sent a body, or that of a wait with a limit of its own.
    public func extend(by seconds: Double) {
        state.withLock { $0.firstExchange?.addTimeInterval(seconds) }
    }
}
