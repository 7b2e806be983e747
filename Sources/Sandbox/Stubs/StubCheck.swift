import HTTPTypes

/// Compares a request with its operation. Credentials are not asked for.
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

    /// A parameter is a text: it is compared as what its schema has it be.
    private func errors(ofText text: String, _ schema: JSONValue) -> [String] {
        let schema = document.resolved(schema)
        let value: JSONValue =
            switch schema.object?["type"]?.string {
            case "integer", "number": (try? JSONParser.parse(Array(text.utf8))) ?? .string(text)
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
