extension RequestMatch {
    /// Reads `{"method":…,"path":…,"query":{…},"header":{…},"body":…}`; every member may be left out.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "method", "path", "query", "header", "body")
        method = try fields.text("method")
        path = try Self.path(try fields.text("path"))
        query = try Self.named(value.object?["query"], field: "query") { $0 }
        header = try Self.named(value.object?["header"], field: "header") { $0.lowercased() }
        switch value.object?["body"] {
        case nil: body = nil
        case .string(let text): body = .contains(text)
        case .some(let value): body = .json(value)
        }
    }

    private static func path(_ text: String?) throws(ControlProblem) -> [String] {
        guard let text else { return [] }
        guard text.hasPrefix("/"), !text.contains("?") else {
            throw .invalid(field: "path", value: text, accepted: ["/first/segments below the upstream; * is any one"])
        }
        return RequestTarget(text).segments
    }

    private static func named(_ value: JSONValue?, field: String, name: (String) -> String) throws(ControlProblem)
        -> [Named]
    {
        guard let value else { return [] }
        var named: [Named] = []
        for member in try ControlFields(value).members {
            let expected: Value
            switch member.value {
            case .string(let text): expected = .equal(text)
            case .bool(let isPresent): expected = isPresent ? .present : .absent
            default:
                throw .invalid(
                    field: "\(field).\(member.name)",
                    value: member.value.excerpt,
                    accepted: ["a string (the value)", "true (any value)", "false (not there)"]
                )
            }
            named.append(Named(name: name(member.name), value: expected))
        }
        return named
    }

    var json: JSONValue {
        var members: [JSONObject.Member] = []
        if let method { members.append(.init(name: "method", value: .string(method))) }
        if !path.isEmpty { members.append(.init(name: "path", value: .string("/" + path.joined(separator: "/")))) }
        if !query.isEmpty { members.append(.init(name: "query", value: Self.json(query))) }
        if !header.isEmpty { members.append(.init(name: "header", value: Self.json(header))) }
        switch body {
        case nil: break
        case .contains(let text): members.append(.init(name: "body", value: .string(text)))
        case .json(let value): members.append(.init(name: "body", value: value))
        }
        return .object(JSONObject(members: members))
    }

    private static func json(_ named: [Named]) -> JSONValue {
        let members = named.map { item in
            let value: JSONValue =
                switch item.value {
                case .equal(let text): .string(text)
                case .present: true
                case .absent: false
                }
            return JSONObject.Member(name: item.name, value: value)
        }
        return .object(JSONObject(members: members))
    }
}
