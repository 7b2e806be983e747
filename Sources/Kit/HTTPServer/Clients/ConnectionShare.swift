import NIOCore

/// The part of a connection in the ``FairQueue`` of its event loop.
final class ConnectionShare {
    private let queue: FairQueue
    private let client: FairQueue.Client
    /// Whether work of the connection waits for the turn of its client.
    private(set) var isWaiting = false
    private var hasTurn = false

    /// - Parameter address: nil if the connection shares with no other one
    init(_ address: IPAddress?, of queue: FairQueue) {
        self.queue = queue
        client = queue.add(address)
    }

    /// Creates the share of a stream of a connection, which waits by itself.
    init(ofStreamOf connection: ConnectionShare) {
        queue = connection.queue
        client = connection.client
    }

    /// Whether work may begin now. Otherwise it has to ``wait(_:_:)``; what it does then asks again.
    func begins(_ work: FairQueue.Work, now: NIODeadline) -> Bool {
        if hasTurn {
            hasTurn = false
            return true
        }
        return !isWaiting && queue.begins(work, of: client, now: now)
    }

    /// Whether work may begin now. Otherwise `run` is called when it is the turn of the client, and asks again.
    func begins(_ work: FairQueue.Work, now: NIODeadline, otherwise run: @escaping () -> Void) -> Bool {
        if begins(work, now: now) { return true }
        wait(work, run)
        return false
    }

    /// Calls `run` when it is the turn of the client, unless work waits already.
    func wait(_ work: FairQueue.Work, _ run: @escaping () -> Void) {
        guard !isWaiting else { return }
        isWaiting = true
        queue.enqueue(work, of: client) {
            self.isWaiting = false
            self.hasTurn = true
            run()
            self.hasTurn = false
        }
    }

    /// Counts the handlers and the task of the connection.
    func opened() { queue.charge(.connection, to: client) }

    /// Counts work that was not known when its turn came.
    func count(_ work: FairQueue.Work) { queue.charge(work, to: client) }

    /// Counts bytes for the decoder.
    func decoded(bytes: Int) { queue.count(bytes >> 12, of: client) }

    /// Whether the client has many connections, and work of it had to wait lately.
    func isCrowded(now: NIODeadline) -> Bool { queue.isCrowded(client, now: now) }

    /// Counts cached responses that were sent.
    func sent(responses: Int, bytes: Int) {
        queue.count(responses - 1 + bytes >> 14, of: client)
    }

    /// Notes the end of the connection.
    func closed() { queue.remove(client) }
}
