import NIOCore

/// Decides when an upstream has made one request wait too long: `event -> deadline`, without a clock.
///
/// Time counts only while the upstream is waited for: while it does not take the request's body, while no response has
/// begun, for which there is a limit of its own, and while the next part of the response was asked for. The time of a
/// slow client does not count. A response may make its reader wait for the limit at one time, however much of it has
/// arrived, so that one that stalls ends, and in all for the limit and for a second more with each ``bytesPerSecond``
/// bytes, so that one that drips ends.
struct StallTimer: Sendable, Equatable {
    /// Slowest response that is read to its end, in bytes per second.
    static let bytesPerSecond = 16 << 10

    private enum Phase: Equatable {
        case idle
        case sending(blockedSince: NIODeadline?)
        case awaitingHead(since: NIODeadline)
        case receiving(askedAt: NIODeadline?)
    }

    private let limit: TimeAmount
    private let responseLimit: TimeAmount
    private var phase = Phase.idle
    private var waited: TimeAmount = .zero
    private var received = 0

    /// - Parameter response: Longest wait for the head of the response.
    init(limit: TimeAmount, response: TimeAmount) {
        self.limit = limit
        responseLimit = response
    }

    /// When the exchange is given up unless something happens; nil while the upstream is not waited for.
    var deadline: NIODeadline? {
        switch phase {
        case .idle: nil
        case .sending(let since): since.map { $0 + limit }
        case .awaitingHead(let since): since + responseLimit
        case .receiving(let askedAt): askedAt.map { $0 + min(limit, allowance - waited) }
        }
    }

    private var allowance: TimeAmount {
        limit + .milliseconds(Int64(received / (Self.bytesPerSecond / 1000)))
    }

    /// Records that the head or a part of the request was written.
    mutating func wrote(isWritable: Bool, at now: NIODeadline) {
        if case .receiving = phase { return }
        phase = .sending(blockedSince: isWritable ? nil : now)
    }

    /// Records that the connection takes more bytes, or no more.
    mutating func writabilityChanged(_ isWritable: Bool, at now: NIODeadline) {
        guard case .sending = phase else { return }
        phase = .sending(blockedSince: isWritable ? nil : now)
    }

    /// Records that the request was written to its end.
    mutating func wroteEnd(at now: NIODeadline) {
        if case .sending = phase { phase = .awaitingHead(since: now) }
    }

    /// Records that more of the response was requested.
    mutating func asked(at now: NIODeadline) {
        if case .receiving(nil) = phase { phase = .receiving(askedAt: now) }
    }

    /// Records a part of the response, 0 bytes for its head.
    mutating func received(_ bytes: Int, at now: NIODeadline) {
        if case .receiving(let askedAt?) = phase { waited = waited + (now - askedAt) }
        phase = .receiving(askedAt: nil)
        received += bytes
    }

    /// Records the end of the response.
    mutating func ended() { phase = .idle }
}
