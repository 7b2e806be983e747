import HTTPTypes
import JSONValues

/// An upstream that responds with the examples of an OpenAPI document, and refuses requests that do not fit the
/// document. Without a document it refuses all requests to which none of its rules responds.
final class OpenAPIStub: SimulatedUpstream {
    let name: String
    private let document: StubDocument

    /// - Parameter document: Nil for none.
    /// - Throws: ``OpenAPIDefect`` if the document is not an OpenAPI document.
    init(name: String, document: JSONValue?) throws(OpenAPIDefect) {
        self.name = name
        self.document = try document.map { (root) throws(OpenAPIDefect) in try StubDocument(root) } ?? StubDocument()
    }

    /// - Parameter text: A document in YAML or JSON, which is a part of the program.
    /// - Throws: ``SandboxError/malformedData(resource:reason:)``.
    convenience init(name: String, text: String) throws(SandboxError) {
        do {
            try self.init(name: name, document: try JSONValue(yaml: text))
        } catch let defect as OpenAPIDefect {
            throw .malformedData(resource: "OpenAPI document of \(name)", reason: "\(defect.place): \(defect.reason)")
        } catch {
            throw .malformedData(resource: "OpenAPI document of \(name)", reason: "\(error)")
        }
    }

    /// `GET /today` and so on.
    var operations: [String] { document.operations.map { "\($0.method) \($0.path.text)" } }

    func reset() {}

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        throw .nothing(at: [name] + request.path)
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let method = request.method == .head ? .get : request.method
        let here = document.operations.filter { $0.path.values(of: request.path) != nil }
        guard !here.isEmpty else {
            let lacking = document.operations.isEmpty ? "No rule responds to" : "The document has no path"
            return Self.problem(.notFound, "\(lacking) /\(request.path.joined(separator: "/")).")
        }
        // A path with literal segments takes precedence over a template.
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
        let problem: JSONObject = [
            "title": "Not in the document", "status": .integer(status.code), "detail": .string(detail),
            "errors": errors.isEmpty ? nil : .array(errors.map(\.json)),
        ]
        return .json(status, .object(problem), type: "application/problem+json")
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

/// Why an OpenAPI document cannot be served.
struct OpenAPIDefect: Error, Equatable {
    let place: String
    let reason: String
}

/// Compares a request with its operation. Credentials are not required.
struct StubCheck: Sendable {
    let operation: StubDocument.Operation
    let document: StubDocument

    /// - Parameter values: Of the variables of the path.
    func errors(of request: UpstreamRequest, _ values: [String: String]) -> [StubError] {
        operation.parameters.flatMap { errors(ofParameter: $0, in: request, values) } + bodyErrors(request)
    }

    private func errors(ofParameter parameter: JSONValue, in request: UpstreamRequest, _ values: [String: String])
        -> [StubError]
    {
        guard let object = parameter.object, let name = object["name"]?.string, let place = object["in"]?.string else {
            return []
        }
        let given: [String]
        switch place {
        case "path": given = values[name].map { [$0] } ?? []
        case "query": given = request.query.filter { $0.name == name || $0.name == "\(name)[]" }.map(\.value)
        case "header": given = HTTPField.Name(name).flatMap { request.headers[$0] }.map { [$0] } ?? []
        default: return []
        }
        guard !given.isEmpty else {
            let isMissing = object["required"]?.bool == true && place != "path"
            return isMissing ? [StubError(place: place, name: name, reason: "it is missing")] : []
        }
        let schema = document.resolved(object["schema"] ?? .null)
        let isList = schema.object?["type"]?.string == "array"
        let items = isList ? given.flatMap { $0.split(separator: ",").map(String.init) } : given
        let single = isList ? schema.object?["items"] ?? .null : schema
        return items.flatMap { errors(ofText: $0, single) }.map {
            StubError(place: place, name: name, reason: $0)
        }
    }

    /// Compares a parameter, which is a text, as a value of the type in its schema.
    private func errors(ofText text: String, _ schema: JSONValue) -> [String] {
        let schema = document.resolved(schema)
        let value: JSONValue =
            switch schema.object?["type"]?.string {
            case "integer", "number": JSONValue(json: text.utf8) ?? .string(text)
            case "boolean": text == "true" ? true : text == "false" ? false : .string(text)
            default: .string(text)
            }
        return StubSchema(document: document).errors(of: value, schema).map(\.reason)
    }

    private func bodyErrors(_ request: UpstreamRequest) -> [StubError] {
        guard let body = operation.body?.object else { return [] }
        func error(_ reason: String) -> [StubError] { [StubError(place: "body", name: "", reason: reason)] }
        guard !request.body.isEmpty else { return body["required"]?.bool == true ? error("it is missing") : [] }
        let contents = body["content"]?.object?.members ?? []
        let type = StubMedia.type(request.headers[.contentType] ?? "")
        guard !contents.isEmpty else { return [] }
        guard let content = contents.first(where: { StubMedia.matches($0.name, type) }) else {
            let accepted = contents.map(\.name).joined(separator: ", ")
            return error("its type is \(type.isEmpty ? "not given" : type); accepted: \(accepted)")
        }
        guard type.hasSuffix("json"), let schema = document.resolved(content.value).object?["schema"] else { return [] }
        do {
            let value = try JSONParser.parse(request.body)
            return StubSchema(document: document).errors(of: value, schema)
        } catch {
            return [StubError(place: "body", name: "", reason: "it is no JSON: \(error)")]
        }
    }
}

/// Media types of a document.
enum StubMedia {
    /// Returns a type without its parameters, in lower case.
    static func type(_ field: String) -> String {
        (field.split(separator: ";").first.map(String.init) ?? "").trimmed.lowercased()
    }

    /// Whether a type, or a range such as `text/*`, has another type.
    static func matches(_ range: String, _ actual: String) -> Bool {
        let range = type(range)
        if range == "*/*" || range == actual { return true }
        return range.hasSuffix("/*") && actual.hasPrefix(range.dropLast())
    }
}
