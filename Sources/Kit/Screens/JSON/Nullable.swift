/// An optional that is written as `null` if it is nil. Swift leaves a plain optional out.
///
/// A field of the contract is always there, so that front ends need not distinguish an absent field from an empty one.
@propertyWrapper
package struct Nullable<Value: Encodable & Sendable>: Encodable, Sendable {
    /// The value, if there is one.
    package var wrappedValue: Value?

    /// Wraps a value.
    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    /// Writes the value or `null`.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue {
            try container.encode(wrappedValue)
        } else {
            try container.encodeNil()
        }
    }
}

extension Nullable: Equatable where Value: Equatable {}
