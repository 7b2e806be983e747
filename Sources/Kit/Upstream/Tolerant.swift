/// An element of a list that an upstream sent: nil if it does not have the expected shape.
///
/// A list of these decodes all of its usable elements, since one bad element does not fail the others.
public struct Tolerant<Value: Decodable & Sendable>: Decodable, Sendable {
    /// The element, nil if it could not be decoded.
    public let value: Value?

    /// Decodes an element; never throws.
    public init(from decoder: any Decoder) throws {
        value = try? Value(from: decoder)
    }
}
