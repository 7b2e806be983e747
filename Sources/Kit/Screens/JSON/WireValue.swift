import Foundation

/// A JSON value.
enum WireValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case float(Float)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Written when its turn comes.
    case direct(any JSONWritable)
    case array(Elements)
    case object(Members)

    /// An array that is being filled.
    final class Elements {
        var values: [WireValue] = []
    }

    /// An object that is being filled. Names are in their form on the wire.
    final class Members {
        /// Sorted by name, without duplicates.
        private(set) var values: [(name: String, value: WireValue)] = []

        init() { values.reserveCapacity(8) }

        /// Adds a member, replacing one of the same name.
        func set(_ name: String, _ value: WireValue) {
            var index = values.endIndex
            while index > 0, name < values[index - 1].name { index -= 1 }
            if index > 0, values[index - 1].name == name {
                values[index - 1].value = value
            } else {
                values.insert((name, value), at: index)
            }
        }
    }
}

extension WireValue {
    /// Writes the value.
    ///
    /// - Throws: `EncodingError`.
    func write(to json: inout JSONWriter) throws {
        switch self {
        case .null: json.null()
        case .bool(let value): json.value(value)
        case .integer(let value): json.value(value)
        case .unsigned(let value): json.value(value)
        case .float(let value): try json.value(value)
        case .double(let value): try json.value(value)
        case .decimal(let value): try json.value(value)
        case .string(let text): json.value(text)
        case .direct(let value): try value.write(to: &json)
        case .array(let array):
            json.beginArray()
            for value in array.values { try value.write(to: &json) }
            json.endArray()
        case .object(let object):
            json.beginObject()
            for member in object.values {
                json.name(member.name)
                try member.value.write(to: &json)
            }
            json.endObject()
        }
    }
}
