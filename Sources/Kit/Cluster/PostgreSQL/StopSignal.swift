import Glibc
import Synchronization

/// Ends the wait of a thread for a socket.
final class StopSignal: Sendable {
    /// Connected to each other: the first can be read once the second was shut down.
    private let (watched, ended): (Int32, Int32)
    private let state = Atomic(false)

    /// Creates a signal that is not set.
    ///
    /// - Throws: ``SharedStoreError/unavailable(_:)`` if the process has no descriptor left.
    init() throws {
        var pair: [Int32] = [-1, -1]
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(type), 0, &pair) == 0 else {
            throw SharedStoreError.unavailable(.notReached("no descriptor is left"))
        }
        (watched, ended) = (pair[0], pair[1])
    }

    deinit {
        close(watched)
        close(ended)
    }

    var isSet: Bool { state.load(ordering: .acquiring) }

    /// Sets it, for good.
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
