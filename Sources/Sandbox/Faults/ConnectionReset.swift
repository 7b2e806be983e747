import NIOCore

/// The connection was closed on purpose; Hummingbird writes no response.
struct ConnectionReset: Error {}

/// A response was cut off on purpose.
struct ResponseTruncated: Error {}

/// `struct linger` of socket(7), which no Swift module exports under member import visibility: on, for 0 seconds.
private struct Linger: Sendable {
    let isOn: CInt = 1
    let seconds: CInt = 0
}

extension Channel {
    /// Closes the connection with a reset: with `SO_LINGER` 0 the kernel sends RST instead of FIN, as from a host that
    /// knows no such connection.
    /// - Returns: The error to throw, so that the caller sends no response.
    func reset() async -> any Error {
        // A stream of HTTP/2 ends with its connection.
        let connection = parent?.parent == nil ? self : parent ?? self
        do {
            try await (connection as? any SocketOptionProvider)?.unsafeSetSocketOption(
                level: .socket,
                name: .so_linger,
                value: Linger()
            ).get()
            try await connection.close().get()
        } catch {
            // The client has closed the connection already, which has the same effect.
            return error
        }
        return ConnectionReset()
    }
}
