import NIOCore

/// An accepted connection before it has a pipeline and a task, which cost several times what it takes to accept and
/// close it: it gets them when it is the turn of its client, if the client is still there.
struct Arrival {
    /// How much longer a connection waits whose client had to wait for its turn and has sent nothing meanwhile, or has
    /// many connections. A client that opens many and closes or resets them again has left then.
    private static let patience = TimeAmount.milliseconds(20)

    private let channel: any Channel
    private let share: ConnectionShare
    private let opens: (ConnectionShare) -> Void
    private let leaves: () -> Void

    /// - Parameters:
    ///   - channel: the connection, from which nothing is read yet
    ///   - share: its part of the event loop
    ///   - opens: is called if the connection is to be served
    ///   - leaves: is called instead if its client has left; the channel is closed then
    init(
        _ channel: any Channel,
        _ share: ConnectionShare,
        opens: @escaping (ConnectionShare) -> Void,
        leaves: @escaping () -> Void
    ) {
        self.channel = channel
        self.share = share
        self.opens = opens
        self.leaves = leaves
    }

    /// Opens the connection now, or when it is the turn of its client.
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
            share.opened()
            opens(share)
        }
    }
}
