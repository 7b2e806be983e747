/// The controls as OpenAPI 3.1, made from the calls of ``ControlIndex`` and their example bodies, so that a harness can
/// generate a client.
struct ControlContract {
    let calls: [ControlIndex.Line]

    var json: JSONValue {
        var paths = JSONObject(members: [])
        for call in calls {
            let path = String(call.path.prefix { $0 != "?" })
            var item = paths[path]?.object ?? JSONObject(members: [])
            item[call.method.lowercased()] = operation(call, path)
            paths[path] = .object(item)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Sandbox of Larder", "version": "1",
                "description": "Controls of the simulated upstreams. Bodies of requests are described by an example.",
            ],
            "tags": [["name": "controls", "description": "What a test can bring about."]],
            "paths": .object(paths), "components": ["schemas": .object(schemas)],
        ]
    }

    private func operation(_ call: ControlIndex.Line, _ path: String) -> JSONValue {
        let parameters = Self.names(in: path).map { Self.parameter($0, in: "path") } + Self.query(of: call.path)
        var members: [JSONObject.Member] = [
            .init(name: "operationId", value: .string(Self.name(of: call))),
            .init(name: "summary", value: .string(call.purpose)), .init(name: "tags", value: ["controls"]),
            .init(name: "parameters", value: .array(parameters)),
        ]
        if let example = Self.example(of: call) {
            let content: JSONValue = ["schema": Self.reference("\(Self.schema(of: call))"), "example": example]
            members.append(
                .init(name: "requestBody", value: ["required": true, "content": ["application/json": content]])
            )
        }
        let done: JSONValue = [
            "description": "Done; the body says what holds now.",
            "content": ["application/json": ["schema": Self.reference("State")]],
        ]
        let refused: JSONValue = [
            "description": "Not understood; the body says what is accepted.",
            "content": ["application/json": ["schema": Self.reference("Refusal")]],
        ]
        members.append(.init(name: "responses", value: ["200": done, "201": done, "400": refused, "404": refused]))
        return .object(JSONObject(members: members))
    }

    /// Members of a body as its example has them, each of which may be left out.
    private var schemas: JSONObject {
        var schemas = JSONObject(members: [
            .init(name: "State", value: ["type": "object"]), .init(name: "Refusal", value: ["type": "object"]),
        ])
        for call in calls {
            guard let example = Self.example(of: call) else { continue }
            var schema: [JSONObject.Member] = [.init(name: "type", value: .string(Self.type(of: example)))]
            if let object = example.object {
                let members = object.members.map { member in
                    JSONObject.Member(name: member.name, value: Self.described(member.value))
                }
                schema.append(.init(name: "properties", value: .object(JSONObject(members: members))))
            } else if example.array != nil {
                schema.append(.init(name: "items", value: ["type": "object"]))
            }
            schemas[Self.schema(of: call)] = .object(JSONObject(members: schema))
        }
        return schemas
    }
}

extension ControlContract {
    private static func example(of call: ControlIndex.Line) -> JSONValue? {
        call.example.flatMap { try? JSONParser.parse(Array($0.utf8)) }
    }

    private static func described(_ value: JSONValue) -> JSONValue {
        guard let items = value.array else { return ["type": .string(type(of: value))] }
        return ["type": "array", "items": ["type": .string(items.first.map(type(of:)) ?? "object")]]
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null, .string: "string"
        case .bool: "boolean"
        case .number: "number"
        case .array: "array"
        case .object: "object"
        }
    }

    /// `putUpstreamsFault` of `PUT /_sandbox/upstreams/{name}/fault`.
    private static func name(of call: ControlIndex.Line) -> String {
        let path = call.path.prefix { $0 != "?" }
        let words = path.split { !$0.isLetter && !$0.isNumber }.dropFirst()
        let joined = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return call.method.lowercased() + (joined.isEmpty ? "Index" : joined)
    }

    private static func schema(of call: ControlIndex.Line) -> String {
        let name = name(of: call)
        return name.prefix(1).uppercased() + name.dropFirst() + "Body"
    }

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/\(name)")] }

    private static func names(in path: String) -> [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// `?upstream=&count=1`: names, with the values that hold without them.
    private static func query(of path: String) -> [JSONValue] {
        let query = path.drop { $0 != "?" }.dropFirst()
        return query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1)
            let isNumber = parts.count > 1 && Int(parts[1]) != nil
            return parameter(String(parts[0]), in: "query", type: isNumber ? "integer" : "string")
        }
    }

    private static func parameter(_ name: String, in place: String, type: String = "string") -> JSONValue {
        [
            "name": .string(name), "in": .string(place), "required": .bool(place == "path"),
            "schema": ["type": .string(type)],
        ]
    }
}
