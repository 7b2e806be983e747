import Foundation
import HTTPTypes

/// An upstream that the sandbox simulates. A response is a function of request and data; faults, journal and sockets
/// are handled elsewhere.
protocol SimulatedUpstream: Sendable {
    /// The prefix of its paths.
    var name: String { get }

    /// Responds to a request below the upstream's prefix. `HEAD` is treated like `GET`; the server drops the body.
    func respond(to request: UpstreamRequest) -> UpstreamResponse

    /// Returns an error of that status in the upstream's own form; nil if it has none for it.
    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse?

    /// Whether the body of a request may have any length and is passed as ``UpstreamRequest/received``.
    func takesLongBody(_ request: UpstreamRequest) -> Bool

    /// Follows the end of a request that the upstream does not respond to: its connection broke, or a fault responds.
    func breakOff(_ request: UpstreamRequest)

    /// Responds to a request to the control API below `/_sandbox/{name}`.
    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse

    /// The lines of the control API's index that belong to this upstream.
    var controls: [ControlIndex.Line] { get }

    /// Resets the data to that of the start.
    func reset()

    /// Returns the data as they are now.
    func save() -> any Sendable

    /// Takes data that an upstream of the same kind has saved.
    func restore(_ saved: any Sendable)

    /// Returns saved data as JSON; nil if there are none.
    func encode(_ saved: any Sendable) throws -> Data?

    /// Reads what ``encode(_:)`` has returned.
    func decode(_ data: Data) throws -> any Sendable
}

extension SimulatedUpstream {
    func takesLongBody(_ request: UpstreamRequest) -> Bool { false }

    func breakOff(_ request: UpstreamRequest) {}

    func save() -> any Sendable { () }

    func restore(_ saved: any Sendable) {}

    func encode(_ saved: any Sendable) throws -> Data? { nil }

    func decode(_ data: Data) throws -> any Sendable { () }

    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse? { nil }
}
