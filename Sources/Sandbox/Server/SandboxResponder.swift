import HTTPTypes
import Hummingbird
import NIOCore

/// The connection of a request.
struct SandboxContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }

    /// `http://127.0.0.1:PORT` with the port that the client reached.
    var origin: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }
}

/// Routes a request to the control API or to the upstream of its prefix, and writes the response.
struct SandboxResponder: HTTPResponder {
    /// Longest request body, in bytes.
    static let maximumBody = 1 << 20

    let stage: SimulatedUpstreams
    let clock: any Clock<Duration>
    /// The server that is tested, in the same process.
    var harness: (any HarnessedServer)?

    func respond(to request: Request, context: SandboxContext) async throws -> Response {
        let target = RequestTarget(request.head.path ?? "/")
        switch target.segments.first {
        case ControlAPI.prefix:
            return try await control(request, target, context) {
                try await ControlAPI(stage: stage, clock: clock, harness: harness).respond(to: $0)
            }
        case .some(let name):
            if name == HarnessAPI.prefix, let harness {
                return try await control(request, target, context) {
                    try await HarnessAPI(server: harness, stage: stage, clock: clock).respond(to: $0)
                }
            }
            guard let slot = stage.slot(named: name) else { fallthrough }
            return try await UpstreamCall(slot: slot, stage: stage, clock: clock, context: context).respond(
                to: request,
                target: target
            )
        case .none:
            return Self.response(
                .text(.notFound, "Nothing here. GET /\(ControlAPI.prefix) lists what there is.\n"),
                to: request.method
            )
        }
    }

    private func control(
        _ request: Request,
        _ target: RequestTarget,
        _ context: SandboxContext,
        by respond: (ControlRequest) async throws -> UpstreamResponse
    ) async throws -> Response {
        do {
            let limit = HarnessAPI.maximumBody(of: target.segments)
            guard let body = try await Self.body(of: request, upTo: limit) else {
                throw ControlProblem.tooLarge(limit: limit)
            }
            let control = ControlRequest(
                method: request.method,
                path: Array(target.segments.dropFirst()),
                query: target.form,
                authority: request.head.authority,
                fetchOrigin: request.headers[.origin],
                body: body,
                onClose: { [channel = context.channel] action in channel.closeFuture.whenComplete { _ in action() } }
            )
            try control.requireLoopback()
            harness?.noteUse()
            return Self.response(try await respond(control), to: request.method)
        } catch let problem as ControlProblem {
            return Self.response(problem.response, to: request.method)
        }
    }

    /// Returns the whole body; nil if it is longer than the limit.
    static func body(of request: Request, upTo limit: Int = maximumBody) async throws -> [UInt8]? {
        do {
            return Array(buffer: try await request.body.collect(upTo: limit))
        } catch is NIOTooManyBytesError {
            return nil
        }
    }

    static func response(_ response: UpstreamResponse, to method: HTTPRequest.Method) -> Response {
        var headers = response.headers
        // NIO's encoder removes the length if a status has no body (204, 304).
        headers[.contentLength] = String(response.length)
        let body =
            if method == .head {
                ResponseBody()
            } else if response.stream == nil {
                ResponseBody(byteBuffer: ByteBuffer(bytes: response.body))
            } else {
                ResponseBody(contentLength: response.length) { writer in
                    try await response.write(0..<response.length, to: &writer)
                    try await writer.finish(nil)
                }
            }
        return Response(status: response.status, headers: headers, body: body)
    }
}
