import Foundation
import NIOCore

/// The address of the server cannot be listened on.
struct CannotListen: Error, CustomStringConvertible {
    let host: String
    let port: Int
    let reason: String

    /// - Parameter cause: What was thrown.
    /// - Returns: nil if that has another reason than the address.
    init?(host: String, port: Int, cause: any Error) {
        switch cause {
        case let error as IOError: reason = Self.reason(ofCode: error.errnoCode)
        case is SocketAddressError, is SocketAddressError.UnknownHost: reason = "there is no such host"
        default: return nil
        }
        self.host = host
        self.port = port
    }

    var description: String {
        "cannot listen on \(host):\(port): \(reason); http.host and http.port set the address"
    }

    /// Says why bind(2) or listen(2) failed.
    private static func reason(ofCode code: Int32) -> String {
        switch code {
        case EADDRINUSE: "another program listens there"
        case EADDRNOTAVAIL: "this machine does not have that address"
        case EACCES, EPERM: "the system does not allow it; ports below 1024 need a right"
        case EAFNOSUPPORT: "this machine has no addresses of that kind"
        default: "the system refuses it (error \(code))"
        }
    }
}
