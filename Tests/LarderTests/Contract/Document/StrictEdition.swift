import TestKit

/// Makes of the published document the one that the tests hold the server to.
///
/// The published one is open, so that clients live on when a member or a wording changes. Here objects are closed,
/// `x-extensible-enum` and `x-problem-codes` are all that there is, and the rules of strict.yaml apply.
struct StrictEdition {
    let published: JSON
    /// strict.yaml.
    let rules: JSON

    /// Something in strict.yaml that the published document does not have.
    struct Unknown: Error {
        let name: String
    }

    /// Returns the strict document.
    ///
    /// - Throws: ``Unknown``.
    func document() throws -> JSON {
        var root = tightened(published).object ?? [:]
        var components = root["components"]?.object ?? [:]
        components["schemas"] = try narrowed(components["schemas"]?.object ?? [:])
        components["rules"] = rules["rules"]
        root["components"] = .object(components)
        root["paths"] = try withTexts(root["paths"] ?? .null)
        return .object(root)
    }

    /// Every object closed, every list of values complete.
    private func tightened(_ value: JSON) -> JSON {
        switch value {
        case .array(let items): return .array(items.map(tightened))
        case .object(var members):
            // Examples are values, not schemas.
            members = members.reduce(into: [:]) { $0[$1.key] = Self.isExample($1) ? $1.value : tightened($1.value) }
            let isOpen = members["additionalProperties"] == nil
            if isOpen, members["type"] == .string("object"), members["properties"] != nil {
                members["additionalProperties"] = .bool(false)
            }
            if let values = members["x-extensible-enum"]?.array {
                let isNullable = members["type"]?.array?.contains(.string("null")) == true
                members["enum"] = .array(values + (isNullable ? [.null] : []))
            }
            if let codes = members["x-problem-codes"], let schema = members["schema"] {
                let narrowing = JSON.object(["properties": .object(["code": .object(["enum": codes])])])
                members["schema"] = .object(["allOf": .array([schema, narrowing])])
            }
            return .object(members)
        default: return value
        }
    }

    private static func isExample(_ member: (key: String, value: JSON)) -> Bool {
        member.key == "examples" || member.key == "example" || member.key == "default"
    }

    /// Schemas with the rules of their names.
    private func narrowed(_ schemas: [String: JSON]) throws -> JSON {
        var schemas = schemas
        for (name, rule) in rules["schemas"]?.object ?? [:] {
            guard var schema = schemas[name]?.object else { throw Unknown(name: name) }
            schema["allOf"] = .array([rule])
            schemas[name] = .object(schema)
        }
        return .object(schemas)
    }

    /// Paths with the rules of bodies that are text, by operation and media type.
    private func withTexts(_ paths: JSON) throws -> JSON {
        var left = rules["operations"]?.object ?? [:]
        let narrowed = (paths.object ?? [:]).mapValues { item in
            JSON.object(
                (item.object ?? [:]).mapValues { operation in
                    guard let name = operation["operationId"]?.string, let rule = left.removeValue(forKey: name) else {
                        return operation
                    }
                    return operation.replacing(rule, inContentOf: "200")
                }
            )
        }
        if let name = left.keys.first { throw Unknown(name: name) }
        return .object(narrowed)
    }
}

extension JSON {
    /// An operation whose bodies of a status also have to keep to other schemas, by media type.
    fileprivate func replacing(_ rules: JSON, inContentOf status: String) -> JSON {
        guard var operation = object, var responses = operation["responses"]?.object,
            var response = responses[status]?.object, var content = response["content"]?.object
        else { return self }
        for (type, rule) in rules.object ?? [:] {
            var media = content[type]?.object ?? [:]
            media["schema"] = .object(["allOf": .array([media["schema"] ?? .bool(false), rule])])
            content[type] = .object(media)
        }
        response["content"] = .object(content)
        responses[status] = .object(response)
        operation["responses"] = .object(responses)
        return .object(operation)
    }
}
