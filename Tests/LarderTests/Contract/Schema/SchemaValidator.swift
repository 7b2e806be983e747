import TestKit

/// Checks values against the part of JSON Schema 2020-12 that openapi.yaml uses, and refuses schemas that use more.
struct SchemaValidator {
    /// The document that references lead into.
    let document: JSON

    /// Keywords that say something to people only.
    static let annotations: Set<String> = [
        "title", "description", "examples", "default", "deprecated", "x-extensible-enum",
    ]

    /// All violations; empty if the value conforms.
    ///
    /// - Throws: ``SchemaError`` if the schema cannot be followed, at any place in it.
    func violations(of value: JSON, schema: JSON, at place: String = "") throws -> [SchemaViolation] {
        if case .bool(let isAllowed) = schema {
            return isAllowed ? [] : [SchemaViolation(place: place, keyword: "false", detail: "nothing is allowed here")]
        }
        guard let keywords = schema.object else { throw SchemaError.malformed(keyword: "schema") }
        return try keywords.sorted { $0.key < $1.key }.flatMap { keyword, argument in
            try violations(of: value, keyword: keyword, argument, among: keywords, at: place)
        }
    }

    private func violations(
        of value: JSON,
        keyword: String,
        _ argument: JSON,
        among keywords: [String: JSON],
        at place: String
    ) throws -> [SchemaViolation] {
        switch keyword {
        case "$ref": return try violations(of: value, schema: try resolve(argument), at: place)
        case "allOf", "anyOf", "oneOf", "not": return try combined(value, keyword: keyword, argument, at: place)
        case "properties", "additionalProperties", "required":
            return try members(
                of: value,
                keyword: keyword,
                argument,
                declared: Set((keywords["properties"]?.object ?? [:]).keys),
                at: place
            )
        case "items", "minItems", "maxItems": return try items(of: value, keyword: keyword, argument, at: place)
        case _ where Self.annotations.contains(keyword): return []
        default:
            guard let fault = try SimpleKeyword.fault(of: value, keyword: keyword, argument) else { return [] }
            return [SchemaViolation(place: place, keyword: keyword, detail: fault)]
        }
    }

    /// Where a reference leads.
    func resolve(_ reference: JSON) throws -> JSON {
        guard let text = reference.string, text.hasPrefix("#"),
            let target = document.at(pointer: String(text.dropFirst()))
        else {
            throw SchemaError.unresolved(reference: "\(reference)")
        }
        return target
    }

    private func combined(_ value: JSON, keyword: String, _ argument: JSON, at place: String) throws
        -> [SchemaViolation]
    {
        if keyword == "not" {
            guard try violations(of: value, schema: argument, at: place).isEmpty else { return [] }
            return [SchemaViolation(place: place, keyword: keyword, detail: "matches what it must not")]
        }
        guard let schemas = argument.array, !schemas.isEmpty else { throw SchemaError.malformed(keyword: keyword) }
        let outcomes = try schemas.map { try violations(of: value, schema: $0, at: place) }
        let matches = outcomes.filter(\.isEmpty).count
        switch keyword {
        case "allOf": return outcomes.flatMap { $0 }
        case "anyOf" where matches > 0, "oneOf" where matches == 1: return []
        default:
            let reasons = outcomes.map { $0.map(\.description).joined(separator: ", ") }.joined(separator: " | ")
            return [
                SchemaViolation(
                    place: place,
                    keyword: keyword,
                    detail: "\(matches) of \(schemas.count) match: \(reasons)"
                )
            ]
        }
    }

    private func members(
        of value: JSON,
        keyword: String,
        _ argument: JSON,
        declared: Set<String>,
        at place: String
    ) throws -> [SchemaViolation] {
        guard let members = value.object else { return [] }
        switch keyword {
        case "properties":
            guard let schemas = argument.object else { throw SchemaError.malformed(keyword: keyword) }
            return try schemas.sorted { $0.key < $1.key }.flatMap { name, schema in
                try members[name].map { try violations(of: $0, schema: schema, at: "\(place)/\(name)") } ?? []
            }
        case "additionalProperties":
            return try members.filter { !declared.contains($0.key) }.sorted { $0.key < $1.key }.flatMap {
                name,
                member in
                try violations(of: member, schema: argument, at: "\(place)/\(name)")
            }
        default:
            guard let names = argument.array else { throw SchemaError.malformed(keyword: keyword) }
            return names.compactMap(\.string).filter { members[$0] == nil }.map { name in
                SchemaViolation(place: place, keyword: keyword, detail: "\(name) is missing")
            }
        }
    }

    private func items(of value: JSON, keyword: String, _ argument: JSON, at place: String) throws
        -> [SchemaViolation]
    {
        guard let items = value.array else { return [] }
        if keyword == "items" {
            return try items.enumerated().flatMap { try violations(of: $1, schema: argument, at: "\(place)/\($0)") }
        }
        guard let limit = argument.number else { throw SchemaError.malformed(keyword: keyword) }
        let holds = keyword == "minItems" ? Double(items.count) >= limit : Double(items.count) <= limit
        return holds ? [] : [SchemaViolation(place: place, keyword: keyword, detail: "\(items.count) items")]
    }
}
