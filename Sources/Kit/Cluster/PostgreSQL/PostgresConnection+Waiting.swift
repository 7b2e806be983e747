import CPQ
import Glibc
import Synchronization

/// Sending and receiving without blocking, and the waits between.
extension PostgresConnection {
    func flush() throws {
        while true {
            switch larder_PQflush(connection) {
            case 0: return
            case 1:
                // The server may wait for its responses to be read before it reads on.
                if try wait(for: POLLIN | POLLOUT) & Int16(POLLIN) != 0, larder_PQconsumeInput(connection) == 0 {
                    throw lost()
                }
            default: throw lost()
            }
        }
    }

    /// Waits for more of the response, and reads it.
    func receive() throws {
        _ = try wait(for: POLLIN)
        guard larder_PQconsumeInput(connection) == 1 else { throw lost() }
    }

    /// Waits until the socket is ready.
    ///
    /// - Returns: the events for which it is ready, as poll(2) reports them.
    /// - Throws: ``ConnectionFailure/timedOut`` at the deadline.
    @discardableResult
    func wait(for events: Int32) throws -> Int16 {
        while true {
            var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
            let count = poll(&descriptor, 1, deadline.milliseconds)
            if count > 0 { return descriptor.revents }
            if count == 0 {
                retire()
                throw ConnectionFailure.timedOut
            }
            guard errno == EINTR else { throw lost() }
        }
    }

    /// Reads messages that have arrived without a request, and returns the texts of notifications.
    ///
    /// - Throws: ``ConnectionFailure/lost``.
    func notifications() throws -> [String] {
        guard larder_PQconsumeInput(connection) == 1 else { throw lost() }
        var found: [String] = []
        while let notification = larder_PQnotifies(connection) {
            found.append(String(cString: notification.pointee.extra))
            larder_PQfreemem(notification)
        }
        return found
    }
}

/// The end of the time that an operation has, connecting included.
struct Deadline {
    let instant: ContinuousClock.Instant
    /// Whether the operation has less than a time of its own: that it runs out says nothing of PostgreSQL.
    let isShortened: Bool

    init(after duration: Duration) {
        (instant, isShortened) = (.now + duration, false)
    }

    /// The end of an operation of the current task, which may be one of several that have their time together.
    init(of operation: Duration, _ options: PostgresOptions) {
        let end = ContinuousClock.now + operation
        // Those with a time of their own need it.
        instant = operation > options.timeout ? end : min(end, PostgresDatabase.end ?? end)
        isShortened = instant < end
    }

    var isOver: Bool { instant <= .now }

    /// The remaining time in milliseconds, rounded up, as poll(2) takes it; 0 if the time is over.
    var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: instant) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 1e9)))
    }
}

/// Ends the wait of a thread for a socket.
final class StopSignal: Sendable {
    /// Connected to each other: the first can be read once the second was shut down.
    private let (watched, ended): (Int32, Int32)
    private let state = Atomic(false)

    /// Creates a signal that is not set.
    ///
    /// - Throws: ``ClusterError/unavailable(_:)`` if the process has no descriptor left.
    init() throws {
        var pair: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(type), 0, &pair) == 0 else {
            throw ClusterError.unavailable(.notReached("no descriptor is left"))
        }
        (watched, ended) = (pair[0], pair[1])
    }

    deinit {
        close(watched)
        close(ended)
    }

    var isSet: Bool { state.load(ordering: .acquiring) }

    func set() {
        state.store(true, ordering: .releasing)
        shutdown(ended, Int32(SHUT_RDWR))
    }

    /// Waits until it is set, a socket is readable, or the time is over.
    ///
    /// - Returns: false if the time is over.
    @discardableResult
    func wait(_ milliseconds: Int32, orReadable socket: Int32 = -1) -> Bool {
        // poll(2) ignores negative descriptors.
        var descriptors = [watched, socket].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return poll(&descriptors, 2, milliseconds) != 0
    }
}
