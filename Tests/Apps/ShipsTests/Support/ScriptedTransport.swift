import Foundation
import HTTPTypes
import Synchronization
import Upstream

/// An upstream that responses what a test tells it to, and remembers what it was asked. Nothing leaves the process.
final class ScriptedTransport: Transport {
    enum Behaviour: Sendable {
        /// The list of ships, with an ETag and 304 like the real one.
        case ships([String])
        case response(Int, HTTPFields = [:], String = "")
        case unreachable(UnreachableReason)
    }

    private struct State {
        var behaviour: Behaviour
        var pictures: [String: IncomingResponse] = [:]
        var requests: [OutgoingRequest] = []
        var isHolding = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ behaviour: Behaviour = .ships(ShipFixtures.fleet)) {
        state = Mutex(State(behaviour: behaviour))
    }

    func become(_ behaviour: Behaviour) {
        state.withLock { $0.behaviour = behaviour }
    }

    func showPicture(
        _ bytes: [UInt8],
        type: String = "image/png",
        status: Int = 200,
        headerFields: HTTPFields = [:],
        at url: String
    ) {
        var fields = headerFields
        fields[.contentType] = type
        state.withLock {
            $0.pictures[url] = IncomingResponse(status: .init(code: status), headerFields: fields, body: bytes)
        }
    }

    var requests: [OutgoingRequest] { state.withLock { $0.requests } }
    /// Requests for the list of ships.
    var listRequests: [OutgoingRequest] { requests.filter { $0.url.hasSuffix("/v4/ships") } }

    /// From now on requests wait until ``release()``.
    func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Returns when a request waits.
    func requestIsHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.watchers.append(continuation) }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    func release() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
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
        let (behaviour, picture) = state.withLock { ($0.behaviour, $0.pictures[request.url]) }
        if let picture { return picture }
        switch behaviour {
        case .unreachable(let reason):
            throw .unreachable(reason)
        case .response(let status, let fields, let body):
            return IncomingResponse(status: .init(code: status), headerFields: fields, body: Array(body.utf8))
        case .ships(let records):
            guard request.url == "https://api.test/v4/ships" else {
                return IncomingResponse(status: .notFound, body: Array("Not Found".utf8))
            }
            let body = ShipFixtures.list(records)
            let tag = "\"\(body.hashValue)\""
            if request.headerFields[.ifNoneMatch] == tag {
                return IncomingResponse(status: .notModified, headerFields: [.eTag: tag])
            }
            let fields: HTTPFields = [
                .contentType: "application/json; charset=utf-8", .eTag: tag, .cacheControl: "max-age=300",
            ]
            return IncomingResponse(status: .ok, headerFields: fields, body: Array(body.utf8))
        }
    }
}
