/// Why a sandbox does not run.
package enum SandboxError: Error, Equatable, CustomStringConvertible {
    /// The port is taken or not allowed.
    case cannotListen(port: Int, reason: String)
    /// Data that is built into the module cannot be read.
    case malformedData(resource: String, reason: String)
    /// It ran and has ended.
    case stopped

    /// For a log or a terminal.
    package var description: String {
        switch self {
        case .cannotListen(let port, let reason): "the sandbox cannot listen on 127.0.0.1:\(port): \(reason)"
        case .malformedData(let resource, let reason): "the sandbox's \(resource) cannot be read: \(reason)"
        case .stopped: "the sandbox has stopped"
        }
    }
}
