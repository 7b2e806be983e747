import HTTPTypes
import JSONValues

/// Compares values with JSON schemas, in the parts that OpenAPI documents of services use: types, required and unknown
/// members, items, enumerations, ranges, lengths and combinations. Formats and patterns are not compared.
struct StubSchema: Sendable {
    let document: StubDocument

    /// Returns the defects of a value, by JSON pointers.
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

/// Makes responses from a document's examples, or from its schemas if there is no example.
struct StubExample: Sendable {
    let document: StubDocument
    /// Number of values that may still be made, because a schema may contain itself.
    private var left = 10_000

    init(document: StubDocument) { self.document = document }

    /// Returns the response of an operation that the field `Prefer: code=404, example=name` selects, otherwise the
    /// first one that is a success.
    ///
    /// - Returns: nil if the document has none.
    mutating func response(of operation: StubDocument.Operation, to request: UpstreamRequest) -> UpstreamResponse? {
        let wishes = Self.wishes(request)
        let sorted = operation.responses.filter { Self.code($0.name) != nil }.sorted {
            (Self.code($0.name) ?? 0) < (Self.code($1.name) ?? 0)
        }
        let chosen =
            wishes["code"].flatMap { wish in operation.responses.first { $0.name == wish } }
            ?? sorted.first { (200..<300).contains(Self.code($0.name) ?? 0) }
            ?? operation.responses.first { $0.name == "default" } ?? sorted.first
        guard let chosen else { return nil }
        let object = document.resolved(chosen.value).object
        let code = Self.code(chosen.name) ?? wishes["code"].flatMap(Self.code) ?? 200
        var response = UpstreamResponse(status: .init(code: code), headers: fields(object))
        if let content = Self.content(object?["content"]?.object, accepted: request.headers[.accept]) {
            let media = document.resolved(content.value).object ?? JSONObject()
            response.headers[.contentType] = content.name
            response.body = body(example(of: media, named: wishes["example"]), type: content.name)
        }
        return response
    }

    /// `200`, or the first of `2XX`; nil for `default`, and for anything but a status of a final response.
    private static func code(_ name: String) -> Int? {
        let code = Int(name.lowercased().replacing("x", with: "0")) ?? 0
        return (200...599).contains(code) ? code : nil
    }

    private static func wishes(_ request: UpstreamRequest) -> [String: String] {
        guard let prefer = HTTPField.Name("Prefer"), let text = request.headers[prefer] else { return [:] }
        var wishes: [String: String] = [:]
        for part in text.split(whereSeparator: { ",;".contains($0) }) {
            let sides = part.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
            if sides.count == 2 { wishes[sides[0].lowercased()] = sides[1].filter { $0 != "\"" } }
        }
        return wishes
    }

    private static func content(_ contents: JSONObject?, accepted: String?) -> JSONObject.Member? {
        let members = contents?.members ?? []
        let ranges = (accepted ?? "*/*").split(separator: ",").map { StubMedia.type(String($0)) }
        return members.first { member in ranges.contains { StubMedia.matches($0, StubMedia.type(member.name)) } }
            ?? members.first
    }

    private mutating func fields(_ response: JSONObject?) -> HTTPFields {
        var fields = HTTPFields()
        for member in response?["headers"]?.object?.members ?? [] {
            guard let name = HTTPField.Name(member.name), name != .contentType, name != .contentLength,
                let header = document.resolved(member.value).object
            else { continue }
            let text = example(of: header, named: nil).text
            if !text.isEmpty { fields[name] = text }
        }
        return fields
    }

    private func body(_ value: JSONValue, type: String) -> [UInt8] {
        if StubMedia.type(type).hasSuffix("json") { return value.serialized() }
        return value.string.map { Array($0.utf8) } ?? value.serialized()
    }

    /// Returns the example of a media type, a parameter or a header.
    private mutating func example(of object: JSONObject, named name: String?) -> JSONValue {
        let named = object["examples"]?.object?.members ?? []
        let chosen = named.first { $0.name == name } ?? (object["example"] == nil ? named.first : nil)
        if let value = chosen.flatMap({ document.resolved($0.value).object?["value"] }) { return value }
        if let value = object["example"] { return value }
        guard let schema = object["schema"] else { return .null }
        return value(of: schema)
    }

    /// Returns a value that a schema describes: its example, its default, or one that is made.
    private mutating func value(of schema: JSONValue, depth: Int = 0) -> JSONValue {
        left -= 1
        guard depth < StubDocument.deepest, left > 0, let schema = document.resolved(schema).object else {
            return .null
        }
        if let value = schema["example"] ?? schema["examples"]?.array?.first ?? schema["default"] ?? schema["const"]
            ?? schema["enum"]?.array?.first
        {
            return value
        }
        if let parts = schema["allOf"]?.array {
            var members: [JSONObject.Member] = []
            for part in parts { members += value(of: part, depth: depth + 1).object?.members ?? [] }
            return .object(JSONObject(members: members + properties(schema, depth)))
        }
        if let first = (schema["oneOf"] ?? schema["anyOf"])?.array?.first { return value(of: first, depth: depth + 1) }
        let type = schema["type"]?.string ?? schema["type"]?.array?.compactMap(\.string).first { $0 != "null" }
        switch type {
        case "array":
            guard let items = schema["items"] else { return [] }
            return .array([value(of: items, depth: depth + 1)])
        case "integer", "number": return schema["minimum"] ?? 0
        case "boolean": return true
        case "string": return .string(Self.text(schema))
        case "null": return .null
        default: return .object(JSONObject(members: properties(schema, depth)))
        }
    }

    private mutating func properties(_ schema: JSONObject, _ depth: Int) -> [JSONObject.Member] {
        var members = schema["properties"]?.object?.members ?? []
        for index in members.indices { members[index].value = value(of: members[index].value, depth: depth + 1) }
        return members
    }

    private static func text(_ schema: JSONObject) -> String {
        switch schema["format"]?.string {
        case "date-time": return "2030-01-05T10:00:00Z"
        case "date": return "2030-01-05"
        case "uuid": return "00000000-0000-4000-8000-000000000000"
        case "uri", "url": return "https://example.com/"
        case "email": return "anna@example.com"
        default:
            let length = Int(min(1000, max(0, schema["minLength"]?.double ?? 0)))
            return length > 4 ? String(repeating: "t", count: length) : "text"
        }
    }
}
