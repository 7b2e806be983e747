/// Compares values with JSON schemas, as far as OpenAPI documents of services use them: types, required and unknown
/// members, items, enumerations, ranges, lengths and combinations. Formats and patterns are not compared.
struct StubSchema: Sendable {
    let document: StubDocument

    /// Returns what is wrong with a value, by JSON pointers.
    func errors(
        of value: JSONValue,
        _ schema: JSONValue,
        at pointer: JSONPointer = JSONPointer(),
        depth: Int = 0
    ) -> [StubError] {
        guard depth < StubDocument.deepest, let schema = document.resolved(schema).object else { return [] }
        func error(_ reason: String) -> [StubError] {
            [StubError(place: "body", name: pointer.description, reason: reason)]
        }
        let types = Self.types(schema)
        if value == .null, schema["nullable"]?.bool == true { return [] }
        if !types.isEmpty, !types.contains(where: { value.isOfType($0) }) {
            return error("it is no \(types.joined(separator: " or "))")
        }
        if let values = schema["enum"]?.array, !values.contains(where: { $0.changes(to: value).isEmpty }) {
            return error("accepted: \(values.map(\.excerpt).joined(separator: ", "))")
        }
        if let constant = schema["const"], !constant.changes(to: value).isEmpty {
            return error("accepted: \(constant.excerpt)")
        }
        return bounds(value, schema).flatMap(error) + parts(value, schema, at: pointer, depth)
            + combinations(value, schema, at: pointer, depth)
    }

    private static func types(_ schema: JSONObject) -> [String] {
        schema["type"]?.array?.compactMap(\.string) ?? schema["type"]?.string.map { [$0] } ?? []
    }

    private func bounds(_ value: JSONValue, _ schema: JSONObject) -> [String] {
        var found: [String] = []
        func compare(_ number: Double?, _ low: String, _ high: String, _ what: String) {
            guard let number else { return }
            if let bound = schema[low]?.double, number < bound {
                found.append("\(what)at least \(schema[low]?.text ?? "")")
            }
            if let bound = schema[high]?.double, number > bound {
                found.append("\(what)at most \(schema[high]?.text ?? "")")
            }
        }
        compare(value.double, "minimum", "maximum", "accepted: ")
        compare((value.string?.unicodeScalars.count).map(Double.init), "minLength", "maxLength", "characters: ")
        compare((value.array?.count).map(Double.init), "minItems", "maxItems", "items: ")
        return found
    }

    private func parts(_ value: JSONValue, _ schema: JSONObject, at pointer: JSONPointer, _ depth: Int) -> [StubError] {
        if let values = value.array, let items = schema["items"] {
            return values.enumerated().flatMap { index, item in
                errors(of: item, items, at: pointer.appending(String(index)), depth: depth + 1)
            }
        }
        guard let object = value.object else { return [] }
        let properties = schema["properties"]?.object ?? JSONObject()
        let missing = (schema["required"]?.array ?? []).compactMap(\.string).filter { object[$0] == nil }
        var found = missing.map {
            StubError(place: "body", name: pointer.appending($0).description, reason: "it is missing")
        }
        for member in object.members {
            let place = pointer.appending(member.name)
            if let property = properties[member.name] {
                found += errors(of: member.value, property, at: place, depth: depth + 1)
            } else if schema["additionalProperties"]?.bool == false {
                found.append(StubError(place: "body", name: place.description, reason: "it is unknown"))
            } else if let further = schema["additionalProperties"], further.object != nil {
                found += errors(of: member.value, further, at: place, depth: depth + 1)
            }
        }
        return found
    }

    private func combinations(_ value: JSONValue, _ schema: JSONObject, at pointer: JSONPointer, _ depth: Int)
        -> [StubError]
    {
        let all = (schema["allOf"]?.array ?? []).flatMap { errors(of: value, $0, at: pointer, depth: depth + 1) }
        let any = (schema["anyOf"]?.array ?? schema["oneOf"]?.array ?? []).map {
            errors(of: value, $0, at: pointer, depth: depth + 1)
        }
        guard !any.isEmpty, !any.contains(where: \.isEmpty) else { return all }
        return all + (any.min { $0.count < $1.count } ?? [])
    }
}

extension JSONValue {
    fileprivate func isOfType(_ type: String) -> Bool {
        switch (type, self) {
        case ("null", .null), ("boolean", .bool), ("number", .number), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number): double.map { $0 == $0.rounded() } ?? false
        default: false
        }
    }
}
