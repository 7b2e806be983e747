import HTTPTypes
import Hummingbird
import Sandbox
import Screens

extension Harness {
    /// Responds by the server, as the faults of the request have it.
    static func respond(
        to request: Request,
        _ context: ScreenContext,
        _ application: any ReplaceableServer,
        _ entry: FrontRequest?
    ) async throws -> Response {
        guard let entry, entry.isFaulty else {
            return try await application.responder.respond(to: request, context: context)
        }
        let server = FrontResponses { request in
            try await application.responder.respond(to: request, context: context)
        } refusal: { status, retryAfter in
            guard let problem = problem(of: status, retryAfter) else { return nil }
            return try await Problem.$injected.withValue(problem) {
                try await application.responder.respond(to: request, context: context)
            }
        }
        return try await entry.respond(to: request, on: context.channel, by: server)
    }

    /// Returns the problem that stands for a status; nil if no problem of Larder has it.
    static func problem(of status: HTTPResponse.Status, _ retryAfter: Int?) -> Problem? {
        guard let code = usual[status] ?? ProblemCode.common.first(where: { $0.status == status }) else { return nil }
        var fields: HTTPFields = [:]
        fields[.retryAfter] = retryAfter.map { String($0) }
        return Problem(code, "A test has set this fault.", headerFields: fields)
    }

    /// What a client meets most often, where a status has several problems.
    private static let usual: [HTTPResponse.Status: ProblemCode] = [
        .unauthorized: .sessionExpired, .forbidden: .upstreamForbidden, .conflict: .targetExists,
        .badGateway: .upstreamBadResponse, .serviceUnavailable: .overloaded, .init(code: 507): .storageFull,
    ]
}
