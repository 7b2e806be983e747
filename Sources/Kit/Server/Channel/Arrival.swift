import NIOCore

/// An accepted connection before it has a pipeline and a task, which cost several times as much as to accept and close
/// it. It gets them when its client has a slot, if the client is still there.
struct Arrival {
    /// How much longer a connection waits if its client had to wait for a slot and has sent nothing meanwhile, or has
    /// many connections. By then, a client that opens many and closes or resets them again has left.
    private static let patience = TimeAmount.milliseconds(20)

    private let channel: any Channel
    private let share: SchedulerShare
    private let opens: (SchedulerShare) -> Void
    private let leaves: () -> Void

    /// - Parameters:
    ///   - channel: the connection, from which nothing is read yet
    ///   - share: its part of the event loop
    ///   - opens: is called if the connection is to be served
    ///   - leaves: is called instead if its client has left; the channel is closed then
    init(
        _ channel: any Channel,
        _ share: SchedulerShare,
        opens: @escaping (SchedulerShare) -> Void,
        leaves: @escaping () -> Void
    ) {
        self.channel = channel
        self.share = share
        self.opens = opens
        self.leaves = leaves
    }

    /// Opens the connection now, or when its client has a slot.
    func begin() {
        let now = channel.eventLoop.now
        if share.begins(.arrival, now: now, otherwise: { proceed(mayWait: true) }) {
            proceed(mayWait: share.isCrowded(now: now))
        }
    }

    private func proceed(mayWait: Bool) {
        let state = TCPState(of: channel)
        if state?.isAbandoned ?? false {
            channel.close(promise: nil)
            leaves()
        } else if mayWait, let state, state.isSilent || state.isOpen && share.isCrowded(now: channel.eventLoop.now) {
            _ = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
                share.wait(.arrival) { proceed(mayWait: false) }
            }
        } else {
            share.count(.connection)
            opens(share)
        }
    }
}

/// State of a TCP connection in the kernel (`TCP_INFO`) before anything is read from it.
struct TCPState: Equatable {
    /// The state of RFC 9293 §3.3.2, in the numbers of the kernel.
    let state: UInt8
    /// How far the client's sequence numbers have advanced: its bytes, and one for the end of its output.
    let received: UInt64

    /// Whether the client has reset the connection, or closed its output without having sent anything: then no response
    /// can reach it, or none is due.
    var isAbandoned: Bool {
        switch state {
        case Self.close: true
        case Self.closeWait: received == 1
        default: false
        }
    }

    /// Whether the client has neither reset the connection nor closed its output.
    var isOpen: Bool { state == Self.established }

    /// Whether the client has neither sent anything nor closed its output.
    var isSilent: Bool { isOpen && received == 0 }

    private static let established: UInt8 = 1
    private static let close: UInt8 = 7
    private static let closeWait: UInt8 = 8
}

extension TCPState {
    /// `struct tcp_info` of the kernel up to and beyond `tcpi_bytes_received`, which the C library does not have.
    private typealias Info = InlineArray<32, UInt64>

    /// Asks the kernel; nil if the channel is no TCP connection. Called on the event loop of the channel.
    init?(of channel: any Channel) {
        guard let provider = channel as? any SocketOptionProvider else { return nil }
        let info: EventLoopFuture<Info> = provider.unsafeGetSocketOption(
            level: .tcp,
            name: .tcp_info
        )
        var found: TCPState?
        // On the event loop the future is complete already.
        info.assumeIsolated().whenSuccess { info in
            found = TCPState(state: UInt8(truncatingIfNeeded: info[0]), received: info[16])
        }
        guard let found else { return nil }
        self = found
    }
}
