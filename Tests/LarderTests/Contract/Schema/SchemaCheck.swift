import TestKit

extension SchemaValidator {
    /// Checks all branches of a schema without a value, so that an unknown keyword is refused in each of them.
    ///
    /// - Throws: ``SchemaError``.
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
