/// An optional that is written as `null` when it is nil, where a plain optional would be left out.
///
/// A field of the contract is always there; front ends need not tell "absent" from "nothing".
@propertyWrapper
public struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    /// The value, if there is one.
    public var wrappedValue: Value?

    /// Wraps a value.
    public init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Writes the value or `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Nullable: Equatable where Value: Equatable {}
