import CPQ
import Glibc

/// Sending and receiving without blocking, and the waits between.
extension PostgresConnection {
    /// Sends the queued output.
    ///
    /// - Throws: ``ConnectionFailure``.
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
    ///
    /// - Throws: ``ConnectionFailure``.
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
