import NIOCore
import Synchronization

/// The fair queues of a server, one for each event loop.
final class FairQueues: Sendable {
    private let exempt: TrustedProxies
    private let activeClients = ActiveClients()
    private let queues = Mutex<[ObjectIdentifier: NIOLoopBound<FairQueue>]>([:])

    /// - Parameter exempt: proxies, whose connections never wait
    init(exempt: TrustedProxies) { self.exempt = exempt }

    /// Returns the share of a new connection. Called on its event loop.
    func share(of channel: any Channel) -> ConnectionShare {
        let address = channel.remoteAddress.flatMap(IPAddress.init).flatMap { exempt.contains($0) ? nil : $0.client }
        let share = ConnectionShare(address, of: queue(channel.eventLoop))
        channel.closeFuture.assumeIsolated().whenComplete { _ in share.closed() }
        return share
    }

    private func queue(_ loop: any EventLoop) -> FairQueue {
        queues.withLock { queues in
            if let queue = queues[ObjectIdentifier(loop)] { return queue }
            let queue = NIOLoopBound(
                FairQueue(activeClients: activeClients) { $0.schedule($1, on: loop) },
                eventLoop: loop
            )
            queues[ObjectIdentifier(loop)] = queue
            return queue
        }.value
    }
}

extension FairQueue {
    /// Schedules the end of a round.
    ///
    /// NIO runs tasks until there are none before it looks at its sockets, also those that tasks submit. So the end of
    /// a round is due a little later.
    fileprivate func schedule(_ end: RoundEnd, on loop: any EventLoop) {
        let queue = NIOLoopBound(self, eventLoop: loop)
        let later = { @Sendable in
            let pause = end.isShared ? min(max(loop.now - end.began, Self.pause), Self.longestPause) : Self.pause
            _ = loop.scheduleTask(in: pause) { queue.value.roundEnded(now: loop.now) }
        }
        // The threads of the application begin tasks in the order of their arrival.
        if end.isApplicationBehind { Task.detached { later() } } else { later() }
    }

    /// Time after which the event loop has looked at its sockets, unless its tasks take longer.
    private static var pause: TimeAmount { .microseconds(100) }
    private static var longestPause: TimeAmount { .milliseconds(20) }
}
