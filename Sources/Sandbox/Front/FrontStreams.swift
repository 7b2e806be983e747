package import HTTPTypes
package import Hummingbird
package import NIOCore
import Synchronization

/// The open event streams of clients, and the faults that were set while they were open.
final class FrontStreams: Sendable {
    private struct Stream {
        let request: MatchedRequest
        let channel: any Channel
        var plan = FaultPlan.online
        /// Messages since the plan was set.
        var count: UInt64 = 0
    }

    private let state = Mutex<(last: Int, streams: [Int: Stream])>((0, [:]))

    /// Sets the faults of the open streams whose requests match.
    ///
    /// - Parameter match: Nil for all.
    /// - Returns: The connections of the streams that the faults end.
    func set(_ plan: FaultPlan, _ match: RequestMatch?) -> [any Channel] {
        state.withLock { state in
            let chosen = state.streams.filter { match?.matches($0.value.request) ?? true }
            for number in chosen.keys {
                state.streams[number]?.plan = plan
                state.streams[number]?.count = 0
            }
            let decision = plan.decision(ordinal: 0)
            let isWhole = if case .whole = decision.delivery.end { true } else { false }
            return decision.source == .none || !isWhole ? chosen.values.map(\.channel) : []
        }
    }

    fileprivate func begin(_ head: HTTPRequest, on channel: any Channel) -> Int {
        state.withLock { state in
            state.last += 1
            state.streams[state.last] = Stream(request: FrontRoute.request(head), channel: channel)
            return state.last
        }
    }

    fileprivate func end(_ number: Int) { state.withLock { _ = $0.streams.removeValue(forKey: number) } }

    /// The decision for the next message of a stream. The same faults hold a stream only once.
    fileprivate func decision(of number: Int) -> FaultDecision {
        state.withLock { state in
            guard let stream = state.streams[number] else { return .response }
            state.streams[number]?.count += 1
            let decision = stream.plan.decision(ordinal: stream.count)
            if decision.isHeld { state.streams[number]?.plan = .online }
            return decision
        }
    }
}

extension FrontFaults {
    /// Returns the body of an event stream, to which faults are applied that are set while it is open.
    package func following(_ body: ResponseBody, of head: HTTPRequest, on channel: any Channel) -> ResponseBody {
        ResponseBody { [self] writer in
            let number = streams.begin(head, on: channel)
            defer { streams.end(number) }
            try await body.write(FrontStreamWriter(base: writer, faults: self, number: number, channel: channel))
        }
    }
}

private struct FrontStreamWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let faults: FrontFaults
    let number: Int
    let channel: any Channel

    mutating func write(_ buffer: ByteBuffer) async throws {
        let decision = faults.streams.decision(of: number)
        if decision.isHeld { try await FrontRequest.wait(for: faults.gate.hold(), faults.gate, on: channel) }
        if decision.delay > 0 { try await FrontRequest.pass(.milliseconds(decision.delay), on: channel) }
        try await base.write(decision.source == .garbage ? ByteBuffer(bytes: FaultOutcome.garbage) : buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await base.finish(trailingHeaders) }
}
