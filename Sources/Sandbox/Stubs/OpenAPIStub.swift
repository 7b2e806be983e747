import HTTPTypes

/// An upstream that responds with the examples of an OpenAPI document, and refuses requests that do not fit it.
final class OpenAPIStub: SimulatedUpstream {
    let name: String
    private let document: StubDocument

    /// - Throws: ``OpenAPIDefect`` if there is something else than an OpenAPI document.
    init(name: String, document: JSONValue) throws(OpenAPIDefect) {
        self.name = name
        self.document = try StubDocument(document)
    }

    /// `GET /today` and so on.
    var operations: [String] { document.operations.map { "\($0.method) \($0.path.text)" } }

    var controls: [ControlIndex.Line] { [] }

    func reset() {}

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        throw .nothing(at: [name] + request.path)
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let method = request.method == .head ? .get : request.method
        let here = document.operations.filter { $0.path.values(of: request.path) != nil }
        guard !here.isEmpty else {
            return Self.problem(.notFound, "The document has no path /\(request.path.joined(separator: "/")).")
        }
        // Of templates and literal segments, the latter decide.
        let order = here.filter { $0.method == method.rawValue }.sorted { $0.path.variables < $1.path.variables }
        guard let operation = order.first, let values = operation.path.values(of: request.path) else {
            let allowed = Set(here.map(\.method)).sorted()
            let detail = "The path has \(allowed.joined(separator: ", "))."
            var refusal = Self.problem(.methodNotAllowed, detail)
            refusal.headers[.allow] = allowed.joined(separator: ", ")
            return refusal
        }
        let errors = StubCheck(operation: operation, document: document).errors(of: request, values)
        guard errors.isEmpty else {
            return Self.problem(
                .badRequest,
                "The request does not fit \(operation.method) \(operation.path.text).",
                errors
            )
        }
        var example = StubExample(document: document)
        return example.response(of: operation, to: request)
            ?? Self.problem(
                .notImplemented,
                "The document has no response of \(operation.method) \(operation.path.text)."
            )
    }

    private static func problem(_ status: HTTPResponse.Status, _ detail: String, _ errors: [StubError] = [])
        -> UpstreamResponse
    {
        var members: [JSONObject.Member] = [
            .init(name: "title", value: "Not in the document"), .init(name: "status", value: .integer(status.code)),
            .init(name: "detail", value: .string(detail)),
        ]
        if !errors.isEmpty { members.append(.init(name: "errors", value: .array(errors.map(\.json)))) }
        return .json(status, .object(JSONObject(members: members)), type: "application/problem+json")
    }
}

/// A part of a request that does not fit the document.
struct StubError: Sendable, Equatable {
    /// `path`, `query`, `header` or `body`.
    let place: String
    /// A parameter, or a JSON pointer in the body.
    let name: String
    let reason: String

    var json: JSONValue { ["in": .string(place), "name": .string(name), "reason": .string(reason)] }
}

/// Why something is no OpenAPI document that can be served.
struct OpenAPIDefect: Error, Equatable {
    /// A JSON pointer.
    let place: String
    let reason: String
}
