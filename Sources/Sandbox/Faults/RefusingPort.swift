import Glibc
import NIOCore

/// A port of 127.0.0.1 at which nothing listens and that no other program gets: the kernel refuses each connection.
final class RefusingPort: Sendable {
    /// Its number.
    let number: Int
    private let descriptor: CInt

    /// - Throws: `IOError`.
    init() throws {
        let made = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(made, address, length) == 0 ? getsockname(made, address, &length) : -1
            }
        }
        guard result == 0 else {
            let code = errno
            close(made)
            throw IOError(errnoCode: code, reason: "bind")
        }
        (descriptor, number) = (made, Int(in_port_t(bigEndian: address.sin_port)))
    }

    deinit { close(descriptor) }
}
