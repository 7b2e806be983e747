import HTTPTypes

/// An upstream that the sandbox plays. Answering is a function of request and data: faults, journal and sockets are no
/// concern of it.
protocol SimulatedUpstream: Sendable {
    var name: SandboxUpstream { get }

    /// Answers a request below the upstream's prefix. `HEAD` is answered like `GET`; the server drops the body.
    func respond(to request: UpstreamRequest) -> UpstreamResponse

    /// An error of that status in the upstream's own form; nil where it has no form of its own for it.
    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse?

    /// Whether the body of a request may be of any length and comes as ``UpstreamRequest/received``.
    func takesLongBody(_ request: UpstreamRequest) -> Bool

    /// Answers a request to the control API below `/_sandbox/{name}`.
    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse

    /// The lines of the control API's index that belong to this upstream.
    var controls: [ControlIndex.Line] { get }

    /// Puts the data back to what it was at the start.
    func reset()
}

extension SimulatedUpstream {
    func takesLongBody(_ request: UpstreamRequest) -> Bool { false }

    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse? { nil }
}

/// A request to one upstream.
struct UpstreamRequest: Sendable {
    var method: HTTPRequest.Method
    /// Below the upstream's prefix.
    var path: [String]
    var query: [RequestTarget.QueryItem] = []
    /// The query read as a form.
    var form: [RequestTarget.QueryItem] = []
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// Instead of `body` where the upstream takes long ones.
    var received: ReceivedBody?
    /// The sandbox's own origin, as `http://127.0.0.1:PORT`, for links to itself.
    var origin: String
}
