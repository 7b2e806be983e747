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
            _ = loop.scheduleTask(in: end.pause(now: loop.now)) { queue.value.roundEnded(now: loop.now) }
        }
        // The threads of the application begin tasks in the order of their arrival.
        if end.isApplicationBehind { Task.detached { later() } } else { later() }
    }
}

extension FairQueue.RoundEnd {
    /// Time after which the event loop has looked at its sockets, unless its tasks take longer.
    private static var shortest: TimeAmount { .microseconds(100) }
    /// What a full round takes on the threads of the application comes on top of its time here.
    private static var shortestOfCrowds: TimeAmount { .milliseconds(3) }
    private static var longest: TimeAmount { .milliseconds(20) }

    /// Returns how long the clients that wait pause. Beside a calm one that is as long as the round took; those that
    /// flood have a fifth of the time, and less if rounds are short.
    func pause(now: NIODeadline) -> TimeAmount {
        let took = now - began
        if !isShared { return Self.shortest }
        return min(isCrowded ? max(4 * took, Self.shortestOfCrowds) : max(took, Self.shortest), Self.longest)
    }
}
