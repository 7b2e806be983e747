import HTTPSemantics
import HTTPTypes

/// Why requests are sent to upstreams: for the journal of simulated ones, and for the one of the server that is tested.
public enum RequestCause: Sendable {
    /// A client's request, by its number in the server's journal. `waits` is called with true when the request begins
    /// to wait for an upstream, with false when it waits no more.
    case request(Int, waits: @Sendable (Bool) -> Void)
    /// It was time to look whether the upstream responds again.
    case probe
    /// The upstream responds again, and what its screens show is refreshed.
    case refresh

    /// That of the running task, and of the tasks that it starts; nil in a server that is not tested.
    @TaskLocal public static var current: RequestCause?

    /// Writes the cause of the running task into a request to a simulated upstream.
    static func mark(_ fields: inout HTTPFields) {
        fields[.larderCause] =
            switch current {
            case .request(let number, _): String(number)
            case .probe: "probe"
            case .refresh: "refresh"
            case nil: nil
            }
    }

    /// What is to be told of the waits of the running task's request; nil if nothing is.
    static var waits: (@Sendable (Bool) -> Void)? {
        if case .request(_, let waits) = current { waits } else { nil }
    }
}

extension HTTPField.Name {
    /// `Larder-Cause`, which only simulated upstreams get.
    static let larderCause = HTTPField.Name(literal: "Larder-Cause")
}
