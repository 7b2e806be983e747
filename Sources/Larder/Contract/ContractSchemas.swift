import Foundation
import JSONValues
import Screens

/// Expands the short form of schemas in the texts to JSON Schema. A type is `string`, `integer?` (or null), `time`,
/// `uri`, `text` (not empty), the name of a schema, or a list of one of them. A member is required unless its name ends
/// in `?`.
struct ContractSchemas {
    let sources: ContractSources

    /// Returns a component.
    ///
    /// - Throws: ``ContractDefect``.
    func component(_ name: String) throws(ContractDefect) -> JSONValue {
        if let data = sources.data(ofScreen: name) { return screen(data) }
        guard let declaration = sources.declaration(ofSchema: name) else {
            throw ContractDefect("there is no schema \(name)")
        }
        if let plain = declaration["$schema"] { return try schema(plain) }
        let members = try sources.members(ofSchema: name)
        let required = members.map(\.name).filter { !$0.hasSuffix("?") }
        var properties = JSONObject()
        for member in members {
            properties.members.append(.init(name: member.plainName, value: try schema(member.value)))
        }
        let isClosed = declaration["$closed"]?.bool == true
        return .object(
            JSONObject([
                ("description", declaration["$description"]), ("type", "object"),
                ("additionalProperties", isClosed ? false : nil),
                ("required", required.isEmpty ? nil : .array(required.map { .string($0) })),
                ("properties", .object(properties)),
            ])
        )
    }

    /// The envelope of a screen.
    private func screen(_ data: String) -> JSONValue {
        [
            "type": "object", "required": ["data", "meta", "links"],
            "properties": [
                "data": .reference("schemas", data),
                "meta": .reference("schemas", sources.isList(data) ? "ListMeta" : "Meta"),
                "links": .reference("schemas", "Links"),
            ],
        ]
    }

    /// Returns a schema in its long form.
    ///
    /// - Throws: ``ContractDefect``.
    func schema(_ short: JSONValue) throws(ContractDefect) -> JSONValue {
        switch short {
        case .string(let type): return .object(try typed(type))
        case .array(let items) where items.count == 1: return ["type": "array", "items": try schema(items[0])]
        case .object(let object): return try schema(object)
        default: throw ContractDefect("no type is \(short)")
        }
    }

    private func schema(_ short: JSONObject) throws(ContractDefect) -> JSONValue {
        var long = JSONObject()
        for member in short.members {
            switch (member.name, member.value) {
            case ("type", .string(let type)): long.members += try typed(type).members
            case ("type", .array): long.members += try schema(member.value).object?.members ?? []
            case ("values", .string(let list)): long["x-extensible-enum"] = try sources.list(list)
            case ("enum", .string(let list)): long["enum"] = try sources.list(list)
            case ("values", _): long["x-extensible-enum"] = member.value
            case ("items", _): long["items"] = try schema(member.value)
            case ("properties", .object(let properties)):
                var members = JSONObject()
                for property in properties.members { members[property.name] = try schema(property.value) }
                long["properties"] = .object(members)
            case ("example", _): continue
            default: long[member.name] = member.value
            }
        }
        return .object(long)
    }

    private func typed(_ expression: String) throws(ContractDefect) -> JSONObject {
        let isNullable = expression.hasSuffix("?")
        let name = isNullable ? String(expression.dropLast()) : expression
        guard let type = Self.types[name] else {
            guard sources.declaration(ofSchema: name) != nil else { throw ContractDefect("there is no type \(name)") }
            let reference = JSONValue.reference("schemas", name)
            return isNullable
                ? JSONObject([("oneOf", [reference, ["type": "null"]])]) : reference.object ?? JSONObject()
        }
        return JSONObject([
            ("type", isNullable ? [.string(type.name), "null"] : .string(type.name)),
            ("format", type.format.map { .string($0) }), ("minLength", name == "text" ? 1 : nil),
        ])
    }

    private static let types: [String: (name: String, format: String?)] = [
        "string": ("string", nil), "text": ("string", nil), "time": ("string", "date-time"),
        "uri": ("string", "uri-reference"), "integer": ("integer", nil), "number": ("number", nil),
        "boolean": ("boolean", nil), "array": ("array", nil), "object": ("object", nil),
    ]
}

extension JSONObject.Member {
    /// The name of a schema's member, without the mark of an optional one.
    var plainName: String { name.hasSuffix("?") ? String(name.dropLast()) : name }
}

/// Values that conform to schemas. A member has its example, or else its first value, its default or the least value of
/// its type. Examples are therefore written once, at the member, and always conform.
struct ContractSamples {
    let sources: ContractSources

    /// Returns a value of a component.
    ///
    /// - Throws: ``ContractDefect``.
    func sample(_ name: String) throws(ContractDefect) -> JSONValue {
        let declaration = sources.declaration(ofSchema: name)
        if let plain = declaration?["$schema"] { return try value(plain) }
        var object = JSONObject()
        for member in try sources.members(ofSchema: name) {
            guard !member.name.hasSuffix("?") || member.value["example"] != nil else { continue }
            object[member.plainName] = try value(member.value)
        }
        for member in declaration?["$example"]?.object?.members ?? [] { object[member.name] = member.value }
        return .object(object)
    }

    /// Returns a value of a schema in its short form.
    private func value(_ short: JSONValue) throws(ContractDefect) -> JSONValue {
        guard case .object(let object) = short else { return try value(ofType: short, JSONObject()) }
        if let example = object["example"] { return try merged(example, object["type"] ?? .null) }
        if let first = object["examples"]?.array?.first { return first }
        let values = try (object["enum"] ?? object["values"]).map { (value) throws(ContractDefect) in
            try value.string.map(sources.list) ?? value
        }
        if let first = values?.array?.first { return first }
        if let value = object["default"] { return value }
        return try value(ofType: object["type"] ?? .null, object)
    }

    /// Returns an example. If it is an object or a list of objects, members that it does not have are taken from the
    /// sample.
    private func merged(_ example: JSONValue, _ type: JSONValue) throws(ContractDefect) -> JSONValue {
        switch (example, type) {
        case (.object, .array(let items)): return [try merged(example, items.first ?? .null)]
        case (.array(let values), .array(let items)):
            var list: [JSONValue] = []
            for value in values { list.append(try merged(value, items.first ?? .null)) }
            return .array(list)
        case (.object(let own), .string(let type)):
            let name = type.hasSuffix("?") ? String(type.dropLast()) : type
            guard sources.declaration(ofSchema: name) != nil, var whole = try sample(name).object else {
                return example
            }
            for member in own.members { whole[member.name] = member.value }
            return .object(whole)
        default: return example
        }
    }

    private func value(ofType type: JSONValue, _ rest: JSONObject) throws(ContractDefect) -> JSONValue {
        if case .array(let items) = type { return [try value(items.first ?? .null)] }
        switch type.string {
        case "string"?, "text"?: return "Text"
        case "time"?: return .string(Self.time)
        case "uri"?: return "/v1"
        case "integer"?, "number"?: return rest["minimum"] ?? 1
        case "boolean"?: return false
        case "object"?: return .object(JSONObject())
        case "array"?: return rest["items"] == nil ? [] : [try value(rest["items"] ?? .null)]
        case let name? where name.hasSuffix("?"): return .null
        case let name?: return try sample(name)
        case nil: throw ContractDefect("a schema has no type")
        }
    }

    static let time = "2026-01-05T10:00:00Z"
}

/// The example of a screen: data, `meta` and address.
struct ContractExample {
    let sources: ContractSources
    let route: ContractRoute

    /// Whether the response is 202: the change has not been made yet.
    let isAccepted: Bool

    init(_ sources: ContractSources, _ route: ContractRoute, isAccepted: Bool) {
        (self.sources, self.route, self.isAccepted) = (sources, route, isAccepted)
    }

    func value(of schema: String) throws(ContractDefect) -> JSONValue {
        let samples = ContractSamples(sources: sources)
        guard let data = sources.data(ofScreen: schema) else { return try samples.sample(schema) }
        let isFetched = route.query.contains("refresh")
        let own = route.text("screen") ?? "screen"
        let screens = sources.screens(ofSchema: schema)
        // A change may respond with the screen of another route.
        let screen = screens.isEmpty || screens.contains(own) ? own : screens[0]
        var meta = JSONObject([
            ("screen", .string(screen)), ("title", .string(sources.forms.title(of: screen)?.english ?? screen)),
            ("state", "content"), ("source", isFetched ? "upstream" : "local"), ("offline", false), ("stale", false),
            ("fetched_at", .null),
            ("banner", .null), ("labels", []),
        ])
        let content = try samples.sample(data)
        meta["revision"] = content["revision"]
        for member in route.declaration["meta"]?.object?.members ?? [] { meta[member.name] = member.value }
        if isAccepted {
            (meta["state"], meta["fetched_at"]) = ("loading", .null)
        } else if meta["source"] != "local", route.declaration["meta"]?["fetched_at"] == nil {
            meta["fetched_at"] = .string(ContractSamples.time)
        }
        if sources.isList(data) { meta["page"] = try samples.sample("Page") }
        let links: JSONValue = ["self": .string(try address()), "next": .null]
        return ["data": content, "meta": .object(meta), "links": links]
    }

    /// The address with the examples of the parameters that it needs.
    private func address() throws(ContractDefect) -> String {
        var (address, query) = (route.path, [String]())
        for name in try route.parameters() {
            guard let parameter = sources.component("parameters", name), parameter["required"] == true,
                let field = parameter["name"]?.string
            else { continue }
            guard let example = parameter["example"] else {
                throw ContractDefect("the parameter \(name) has no example")
            }
            let text = ContractExample.encoded(example)
            if parameter["in"] == "path" { address = address.replacing("{\(field)}", with: text) }
            if parameter["in"] == "query" { query.append("\(field)=\(text)") }
        }
        return query.isEmpty ? address : "\(address)?\(query.joined(separator: "&"))"
    }

    private static func encoded(_ value: JSONValue) -> String {
        let text = value.string ?? value.json
        return text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~")))
            ?? text
    }
}
