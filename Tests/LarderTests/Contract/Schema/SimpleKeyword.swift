import TestKit

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
