import RawStructuredFieldValues

/// A dictionary of structured field values, with the types that cache directives take. RFC 9651 §3.2, §4.2.2.
public struct StructuredDictionary: Sendable {
    /// The value of a member; its parameters are checked and dropped.
    public enum Value: Sendable, Equatable {
        /// A boolean; a key without a value is true.
        case boolean(Bool)
        /// An integer.
        case integer(Int)
        /// A string.
        case string(String)
        /// A token.
        case token(String)
        /// A decimal, a byte sequence, a date, a display string or an inner list: no directive takes one.
        case other
    }

    /// Members in the order in which their keys first appear; of several values for one key the last applies (§4.2.2).
    public let members: [(key: String, value: Value)]

    /// Most members that are read: RFC 9651 §3.2 asks for at least 1,024.
    public static let mostMembers = 1024

    /// Reads a field value, all its lines joined by commas.
    /// - Returns: nil if any part of the text violates the syntax: structured fields are read whole or not at all
    ///   (§4.2). Also nil if there are more than ``mostMembers`` members.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        // The library searches linearly for a key that is given again, so the number of keys has a limit.
        guard bytes.count(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }) < 2 * Self.mostMembers else {
            return nil
        }
        var parser = StructuredFieldValueParser(bytes)
        guard let parsed = try? parser.parseDictionaryFieldValue(), parsed.count <= Self.mostMembers else { return nil }
        members = parsed.map { ($0.0, Value($0.1)) }
    }
}

extension StructuredDictionary.Value {
    fileprivate init(_ member: ItemOrInnerList) {
        guard case .item(let item) = member else {
            self = .other
            return
        }
        self =
            switch item.rfc9651BareItem {
            case .bool(let value): .boolean(value)
            case .integer(let value): .integer(Int(value))
            case .string(let value): .string(value)
            case .token(let value): .token(value)
            case .decimal, .undecodedByteSequence, .date, .displayString: .other
            }
    }
}
