import Foundation
import JSONValues
import Screens

/// The contract: an OpenAPI document of all routes of a program, assembled from the texts of the server and of each app
/// (docs/contract-source.md). It depends on the program alone, not on its settings.
struct ContractDocument {
    let root: JSONValue
    /// The parts from which it is made, for documents of fewer routes.
    private let assembly: ContractAssembly

    /// - Throws: ``ContractDefect``.
    init(_ sources: ContractSources) throws(ContractDefect) {
        assembly = try ContractAssembly(sources)
        root = try assembly.document(of: nil)
    }

    /// The tags that group its routes: the apps, then the parts of the server.
    var tags: [String] { assembly.tags.compactMap { $0["name"]?.string } }

    /// Returns a document with the routes of one tag, and the components that they use.
    ///
    /// - Throws: ``ContractDefect``.
    func part(of tag: String) throws(ContractDefect) -> JSONValue { try assembly.document(of: tag) }
}

/// The operations, and the components that they need.
private struct ContractAssembly {
    private let sources: ContractSources
    let tags: [JSONValue]
    private var paths:
        [(path: String, operations: [(method: String, tag: JSONValue?, value: JSONValue)], mark: String?)] =
            []
    private var problems: ContractProblems
    private var responses: [String: JSONValue] = [:]
    private var examples: [String: JSONValue] = [:]

    init(_ sources: ContractSources) throws(ContractDefect) {
        self.sources = sources
        problems = ContractProblems(sources)
        let inOrder = sources.all.filter(\.isOfApp) + sources.all.filter { !$0.isOfApp }
        tags = inOrder.flatMap { $0.content["tags"]?.array ?? [] }
        for source in inOrder {
            for path in source.section("routes") { try add(path, of: source) }
            let described = Set(paths.flatMap { path in path.operations.map { "\($0.method) \(path.path)" } })
            if let lacking = source.routes?.first(where: { !described.contains($0.operation) }) {
                throw ContractDefect("\(lacking.operation): the contract does not describe it")
            }
        }
        // No route declares these responses: they are those to an unknown path or method.
        _ = try problems.refusals(["method-not-allowed", "not-found"])
        for (name, response) in sources.shared("responses").members.map({ ($0.name, $0.value) }) {
            responses[name] = try shared(response.object ?? JSONObject(), name: name)
        }
    }

    private mutating func add(_ path: JSONObject.Member, of source: ContractSources.Source) throws(ContractDefect) {
        guard let methods = path.value.object else { throw ContractDefect("\(path.name): it has no methods") }
        let common = methods["each"]?.object ?? JSONObject()
        var operations: [(String, JSONValue?, JSONValue)] = []
        var mark: String?
        for method in methods.members where method.name != "each" {
            var declaration = try facts(of: "\(method.name) \(path.name)", source)
            for member in common.members + (method.value.object?.members ?? []) {
                declaration[member.name] = member.value
            }
            let route = try ContractRoute(sources, source, path: path.name, method: method.name, declaration)
            mark = route.kind["mark"]?.string
            operations.append((method.name, route.tag, try operation(route)))
        }
        paths.append((path.name, operations, mark))
    }

    /// Returns the members that the route of an app defines. The app's text repeats them only to change them.
    private func facts(of operation: String, _ source: ContractSources.Source) throws(ContractDefect) -> JSONObject {
        guard let routes = source.routes else { return JSONObject() }
        guard let route = routes.first(where: { $0.operation == operation }) else {
            throw ContractDefect("\(operation): there is no such route")
        }
        return route.contractFacts
    }

    private mutating func operation(_ route: ContractRoute) throws(ContractDefect) -> JSONValue {
        guard let id = route.text("id") else { throw ContractDefect("\(route.method) \(route.path): it has no id") }
        let parameters = try route.parameters()
        let references = parameters.map { JSONValue.reference("parameters", $0) }
        var operation = JSONObject([
            ("operationId", .string(id)), ("summary", route.declaration["summary"]),
            ("description", route.declaration["description"]), ("tags", route.tag.map { .array([$0]) }),
            ("security", route.security), ("parameters", references.isEmpty ? nil : .array(references)),
            ("requestBody", try requestBody(route, id)), ("responses", try responses(route, id, parameters)),
        ])
        operation.members += route.declaration.members.filter { $0.name.hasPrefix("x-") }
        if route.declaration["metrics"] == true {
            operation["description"] = .string("\(route.text("description") ?? "")\n\(MetricCatalogue.markdown())")
            operation["x-metrics"] = .object(MetricCatalogue.kinds)
        }
        return .object(operation)
    }
}

// MARK: Responses

extension ContractAssembly {
    private mutating func responses(_ route: ContractRoute, _ id: String, _ parameters: [String])
        throws(ContractDefect) -> JSONValue
    {
        var found: [(status: String, response: JSONValue)] = []
        let returns = (route.declaration["returns"] ?? route.kind["returns"])?.object ?? JSONObject()
        for member in returns.members { found.append((member.name, try success(route, id, member))) }
        if route.isRevalidated { found.append(("304", notModified(route, returns))) }
        for (status, response) in try problems.refusals(route.problems(parameters)) {
            let own = route.kind["refusals"]?[status]?.string.map { JSONValue.reference("responses", $0) }
            if !found.contains(where: { $0.status == status }) { found.append((status, own ?? response)) }
        }
        found.sort { $0.status < $1.status }
        return .object(JSONObject(found.map { ($0.status, $0.response) }))
    }

    private mutating func success(_ route: ContractRoute, _ id: String, _ member: JSONObject.Member)
        throws(ContractDefect) -> JSONValue
    {
        let response = member.value.object ?? JSONObject([("screen", member.value)])
        let name = member.name == "200" || member.name == "default" ? id : id + member.name
        return .object(
            JSONObject([
                ("description", response["description"] ?? Self.description(route, member.name)),
                ("headers", ContractHeaders.references(route.headers(of: response, member.name))),
                ("content", try content(response, route, name)),
            ])
        )
    }

    private static func description(_ route: ContractRoute, _ status: String) -> JSONValue {
        switch status {
        case "201": "Created."
        case "202": "In progress."
        default: route.isRead ? "The screen." : "Done."
        }
    }

    /// Returns a 304. It has the header fields of the 200, except those of the content.
    private mutating func notModified(_ route: ContractRoute, _ returns: JSONObject) -> JSONValue {
        var headers = route.headers(of: returns["200"]?.object ?? JSONObject(), "304")
        headers.members.removeAll { ContractRoute.onlyOfContent.contains($0.name) }
        let response: JSONValue = [
            "description": "The client has the body: its entity tag is one of those in `If-None-Match`.",
            "headers": ContractHeaders.references(headers),
        ]
        let kind = route.kindName == "screen" ? "" : ContractProblems.typeName(route.kindName)
        let base = route.kind["headers"]?.object ?? JSONObject()
        let differing = headers.members.filter { $0.name != "Age" && $0.value != base[$0.name] }
        let own = differing.filter { $0.name != "ETag" || $0.value != route.kind["etag"] }
        let name = "NotModified" + kind + own.compactMap(\.value.string).joined()
        responses[name] = response
        return .reference("responses", name)
    }

    /// Returns a response that the server's text declares separately.
    private mutating func shared(_ response: JSONObject, name: String) throws(ContractDefect) -> JSONValue {
        let content = try textsAndProblems(response, name)
        return .object(
            JSONObject([
                ("description", response["description"]),
                ("headers", ContractHeaders.references(response["headers"]?.object ?? JSONObject())),
                ("content", content.members.isEmpty ? nil : .object(content)),
            ])
        )
    }
}

// MARK: Bodies

extension ContractAssembly {
    private mutating func content(_ response: JSONObject, _ route: ContractRoute, _ name: String)
        throws(ContractDefect) -> JSONValue?
    {
        var content = JSONObject()
        if let screen = response["screen"]?.string {
            let example = try ContractExample(sources, route, isAccepted: name.hasSuffix("202")).value(of: screen)
            content[ContractMedia.json] = media(.reference("schemas", screen), example, name)
        }
        for type in response["types"]?.strings ?? [] {
            content[type] = ["schema": ["type": "string", "format": "binary"]]
        }
        content.members += try textsAndProblems(response, name).members
        return content.members.isEmpty ? nil : .object(content)
    }

    private mutating func textsAndProblems(_ response: JSONObject, _ name: String) throws(ContractDefect) -> JSONObject
    {
        var content = try texts(response, name)
        if let codes = response["codes"]?.strings {
            var all: [ProblemCode] = []
            for code in codes { all.append(try sources.code(code)) }
            content[ContractMedia.problem] = try problems.content(all)
        }
        return content
    }

    /// Returns the content of media types that have a schema and examples of their own.
    private mutating func texts(_ response: JSONObject, _ name: String) throws(ContractDefect) -> JSONObject {
        var content = JSONObject()
        for member in response["content"]?.object?.members ?? [] {
            let subtype = String(member.name.split(separator: "/").last ?? "")
            let ending = ContractProblems.typeName(subtype.replacing(/[^a-z]/, with: "-"))
            let schema = member.value["schema"] ?? "string"
            var media = JSONObject([("schema", try ContractSchemas(sources: sources).schema(schema))])
            if let several = member.value["examples"]?.object {
                var references = JSONObject()
                for example in several.members {
                    references[example.name] = exampleReference(example.value, "\(name).\(example.name)")
                }
                media["examples"] = .object(references)
            } else if let example = try example(member.value, schema) {
                media["examples"] = ["example": exampleReference(example, "\(name).\(ending)")]
            } else if schema["format"] != "binary" {
                throw ContractDefect("\(name): \(member.name) has no example")
            }
            content[member.name] = .object(media)
        }
        return content
    }

    private func example(_ media: JSONValue, _ schema: JSONValue) throws(ContractDefect) -> JSONValue? {
        if let example = media["example"] { return example }
        guard let name = schema.string else { return nil }
        return try ContractSamples(sources: sources).sample(name)
    }

    private mutating func media(_ schema: JSONValue, _ example: JSONValue, _ name: String) -> JSONValue {
        ["schema": schema, "examples": ["example": exampleReference(example, name)]]
    }

    private mutating func exampleReference(_ value: JSONValue, _ name: String) -> JSONValue {
        examples[name] = ["value": value]
        return .reference("examples", name)
    }

    private mutating func requestBody(_ route: ContractRoute, _ id: String) throws(ContractDefect) -> JSONValue? {
        guard let body = route.declaration["body"] else { return nil }
        let name = id + ".body"
        if let object = body.object, object["content"] != nil {
            var whole = JSONObject([("required", object["required"]), ("description", object["description"])])
            whole["content"] = .object(try texts(object, name))
            return .object(whole)
        }
        guard let schema = body.string ?? body["schema"]?.string else {
            throw ContractDefect("\(id): its body has no schema")
        }
        let bytes = route.declaration["bytes"] ?? .integer(Route.defaultBodyBytes)
        let example = try ContractSamples(sources: sources).sample(schema)
        return [
            "required": .bool(body["optional"]?.bool != true),
            "description": .string("At most \(bytes.double.map { Int($0) } ?? 0) bytes. Unknown members are 400."),
            "content": .object(
                JSONObject([(ContractMedia.json, media(.reference("schemas", schema), example, name))])
            ),
        ]
    }
}

// MARK: Documents

extension ContractAssembly {
    /// Returns the document with the routes of a tag, or with all routes.
    func document(of tag: String?) throws(ContractDefect) -> JSONValue {
        var paths = JSONObject()
        for (path, operations, mark) in self.paths {
            let chosen = operations.filter { tag == nil || $0.tag?.string == tag }
            guard !chosen.isEmpty else { continue }
            var item = JSONObject([(mark ?? "", mark == nil ? nil : true)])
            for operation in chosen { item[operation.method] = operation.value }
            paths[path] = .object(item)
        }
        var document = sources.shared("document")
        let everywhere = document["x-larder-everywhere"] ?? .null
        document["tags"] = .array(tags.filter { tag == nil || $0["name"]?.string == tag })
        document["paths"] = .object(paths)
        document["components"] = try components(usedBy: [everywhere, .object(paths)])
        return .object(document)
    }

    /// Returns the components that values refer to, directly or through others.
    private func components(usedBy values: [JSONValue]) throws(ContractDefect) -> JSONValue {
        var found: [String: [String: JSONValue]] = [:]
        var next = values
        while let value = next.popLast() {
            for (kind, name) in Self.references(in: value) where found[kind]?[name] == nil {
                let component = try component(kind, name)
                found[kind, default: [:]][name] = component
                if kind != "examples" { next.append(component) }
            }
        }
        var components = JSONObject([("securitySchemes", .object(sources.shared("securitySchemes")))])
        for kind in ["parameters", "headers", "responses", "schemas", "examples"] {
            let members = (found[kind] ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, JSONValue?.some($0.value)) }
            if !members.isEmpty { components[kind] = .object(JSONObject(members)) }
        }
        return .object(components)
    }

    private func component(_ kind: String, _ name: String) throws(ContractDefect) -> JSONValue {
        let found: JSONValue? =
            switch kind {
            case "schemas": try ContractSchemas(sources: sources).component(name)
            case "responses": responses[name] ?? problems.responses[name]
            case "examples": examples[name] ?? problems.examples[name]
            default: try sources.component(kind, name).map(described)
            }
        guard let found else { throw ContractDefect("there is no \(kind) \(name)") }
        return found
    }

    /// Returns a parameter or header field with its schema in the long form.
    private func described(_ component: JSONObject) throws(ContractDefect) -> JSONValue {
        var component = component
        if let schema = component["schema"] {
            component["schema"] = try ContractSchemas(sources: sources).schema(schema)
        }
        return .object(component)
    }

    /// Returns kind and name of each component that a value refers to.
    private static func references(in value: JSONValue) -> [(kind: String, name: String)] {
        switch value {
        case .array(let items): return items.flatMap(references)
        case .object(let object):
            return object.members.flatMap { member -> [(String, String)] in
                guard member.name == "$ref", let target = member.value.string else {
                    return references(in: member.value)
                }
                let parts = target.split(separator: "/").suffix(2).map(String.init)
                return parts.count == 2 ? [(parts[0], parts[1])] : []
            }
        default: return []
        }
    }
}
