import Foundation
public import HTTPTypes
import Synchronization
public import Upstream

/// An upstream that responses what a test tells it to, and remembers what it was asked. Nothing leaves the process.
public final class ScriptedUpstream: Transport {
    /// Answers one request.
    public typealias Script = @Sendable (OutgoingRequest) throws(UpstreamError) -> IncomingResponse

    private struct State {
        var script: Script
        var requests: [OutgoingRequest] = []
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// An upstream that responses by this script.
    public init(_ script: @escaping Script) {
        state = Mutex(State(script: script))
    }

    /// Answers otherwise from now on.
    public func become(_ script: @escaping Script) {
        state.withLock { $0.script = script }
    }

    /// Cannot be reached from now on.
    public func goAway(_ reason: UnreachableReason = .refused) {
        become { (_) throws(UpstreamError) in throw .unreachable(reason) }
    }

    /// What it was asked so far.
    public var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// From now on requests wait until ``release()``.
    public func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Returns when a request waits.
    public func requestIsHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.watchers.append(continuation) }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    /// Lets go on what waits.
    public func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Answers by the script.
    public func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        await withCheckedContinuation { continuation in
            let (isHeld, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
                state.requests.append(request)
                guard state.isHolding else { return (false, []) }
                state.held.append(continuation)
                defer { state.watchers = [] }
                return (true, state.watchers)
            }
            if !isHeld { continuation.resume() }
            for watcher in watchers { watcher.resume() }
        }
        let script = state.withLock { $0.script }
        return try script(request)
    }
}

extension IncomingResponse {
    /// A response of JSON text.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:])
        -> IncomingResponse
    {
        var fields = headerFields
        fields[.contentType] = "application/json; charset=utf-8"
        return IncomingResponse(status: status, headerFields: fields, body: Array(text.utf8))
    }

    /// A page of something in between: a proxy, a captive portal, another server.
    public static func page(_ status: Int) -> IncomingResponse {
        let page = "<html><head><title>\(status)</title></head><body>nginx</body></html>"
        return IncomingResponse(
            status: .init(code: status),
            headerFields: [.contentType: "text/html"],
            body: Array(page.utf8)
        )
    }
}
