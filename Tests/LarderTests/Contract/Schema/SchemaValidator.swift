import Foundation
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

    /// The target of a reference.
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

extension SchemaValidator {
    /// Checks all branches of a schema without a value, so that an unknown keyword is refused in each of them.
    func check(_ schema: JSON) throws {
        guard let keywords = schema.object else {
            if schema.bool != nil { return }
            throw SchemaError.malformed(keyword: "schema")
        }
        for (keyword, argument) in keywords {
            switch keyword {
            case "$ref": _ = try resolve(argument)
            case "allOf", "anyOf", "oneOf":
                guard let schemas = argument.array, !schemas.isEmpty else {
                    throw SchemaError.malformed(keyword: keyword)
                }
                try schemas.forEach(check)
            case "properties":
                guard let schemas = argument.object else { throw SchemaError.malformed(keyword: keyword) }
                try schemas.values.forEach(check)
            case "items", "not", "additionalProperties": try check(argument)
            case "required":
                guard let names = argument.array, names.allSatisfy({ $0.string != nil }) else {
                    throw SchemaError.malformed(keyword: keyword)
                }
            case "minItems", "maxItems":
                guard argument.number != nil else { throw SchemaError.malformed(keyword: keyword) }
            case _ where Self.annotations.contains(keyword): break
            // The argument is looked at before the value is.
            default: _ = try SimpleKeyword.fault(of: .null, keyword: keyword, argument)
            }
        }
    }
}

/// The formats that openapi.yaml uses.
enum SchemaFormat: String {
    /// RFC 3339 §5.6.
    case dateTime = "date-time"
    /// RFC 3986 §4.1.
    case uriReference = "uri-reference"

    /// The bytes of a body that is no JSON (OpenAPI 3.0; generators make a stream of it).
    case binary

    func holds(for text: String) -> Bool {
        switch self {
        case .binary: return true
        case .dateTime:
            let shape = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/
            guard text.wholeMatch(of: shape) != nil else { return false }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            return (try? Date(text, strategy: style)) != nil
        case .uriReference:
            // Characters first: Foundation would encode invalid ones instead of refusing them.
            let characters = /([A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*/
            return text.wholeMatch(of: characters) != nil && text.filter { $0 == "#" }.count <= 1
        }
    }
}

/// Where a value does not keep to its schema.
struct SchemaViolation: Error, Equatable, CustomStringConvertible {
    /// JSON pointer into the value.
    let place: String
    /// The keyword that it breaks.
    let keyword: String
    let detail: String

    var description: String { "\(place.isEmpty ? "/" : place) \(keyword): \(detail)" }
}

/// A fault of a schema itself. Never taken for a value that does not conform.
enum SchemaError: Error, Equatable {
    /// A keyword that this validator does not check; it must not be taken for one that holds.
    case unknownKeyword(String)
    case unknownFormat(String)
    case malformed(keyword: String)
    case unresolved(reference: String)
}

/// Keywords that look at one value by itself, without a schema inside.
enum SimpleKeyword {
    /// The violation; nil if the keyword holds or does not apply.
    static func fault(of value: JSON, keyword: String, _ argument: JSON) throws -> String? {
        switch keyword {
        case "type": try typeFault(of: value, argument)
        case "const": value == argument ? nil : "is \(value), not \(argument)"
        case "enum": try enumFault(of: value, argument)
        case "minimum", "maximum": try rangeFault(of: value, keyword: keyword, argument)
        case "minLength", "maxLength", "pattern", "format": try textFault(of: value, keyword: keyword, argument)
        default: throw SchemaError.unknownKeyword(keyword)
        }
    }

    private static func typeFault(of value: JSON, _ argument: JSON) throws -> String? {
        let names = argument.array?.compactMap(\.string) ?? argument.string.map { [$0] } ?? []
        guard !names.isEmpty,
            names.allSatisfy(["null", "boolean", "integer", "number", "string", "array", "object"].contains)
        else {
            throw SchemaError.malformed(keyword: "type")
        }
        let own: Set<String> =
            switch value {
            case .null: ["null"]
            case .bool: ["boolean"]
            case .number(let number): number == number.rounded() ? ["number", "integer"] : ["number"]
            case .string: ["string"]
            case .array: ["array"]
            case .object: ["object"]
            }
        return own.isDisjoint(with: names) ? "is \(own.sorted()[0]), not \(names.joined(separator: " or "))" : nil
    }

    private static func enumFault(of value: JSON, _ argument: JSON) throws -> String? {
        guard let allowed = argument.array, !allowed.isEmpty else { throw SchemaError.malformed(keyword: "enum") }
        return allowed.contains(value) ? nil : "\(value) is not listed"
    }

    private static func rangeFault(of value: JSON, keyword: String, _ argument: JSON) throws -> String? {
        guard let limit = argument.number else { throw SchemaError.malformed(keyword: keyword) }
        guard let number = value.number else { return nil }
        return (keyword == "minimum" ? number >= limit : number <= limit) ? nil : "\(number) is beyond \(limit)"
    }

    private static func textFault(of value: JSON, keyword: String, _ argument: JSON) throws -> String? {
        switch keyword {
        case "pattern":
            guard let pattern = argument.string, let expression = try? Regex(pattern) else {
                throw SchemaError.malformed(keyword: keyword)
            }
            guard let text = value.string else { return nil }
            return text.contains(expression) ? nil : "\(text) does not match \(pattern)"
        case "format":
            guard let name = argument.string else { throw SchemaError.malformed(keyword: keyword) }
            guard let format = SchemaFormat(rawValue: name) else { throw SchemaError.unknownFormat(name) }
            guard let text = value.string else { return nil }
            return format.holds(for: text) ? nil : "\(text) is no \(name)"
        default:
            guard let limit = argument.number else { throw SchemaError.malformed(keyword: keyword) }
            guard let text = value.string else { return nil }
            // JSON Schema counts code points (RFC 8259 characters).
            let length = Double(text.unicodeScalars.count)
            return (keyword == "minLength" ? length >= limit : length <= limit) ? nil : "\(Int(length)) characters"
        }
    }
}
