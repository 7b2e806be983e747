public import Foundation

/// A list that an upstream sent: its elements, nil for those that do not have the expected shape.
///
/// Of a very long list only the first elements are decoded. What is made of a list is written in one transaction, and
/// SQLite has one writer, so that the length of lists bounds how long other writes wait, and the memory.
public struct TolerantList<Value: Decodable & Sendable>: Decodable, Sendable {
    /// The elements, at most ``ListLimit/elements``.
    public let values: [Value?]
    /// Whether the list has more elements than that. A list that is nothing without its end is then unusable.
    public let isTruncated: Bool

    /// Decodes a list.
    ///
    /// - Throws: `DecodingError` if it is none.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var values: [Value?] = []
        while !container.isAtEnd, values.count < ListLimit.elements {
            values.append(try container.decode(Tolerant<Value>.self).value)
        }
        self.values = values
        isTruncated = !container.isAtEnd
    }

    /// Decodes the first elements of a list. Later elements are not read: a decoder makes a map of all values
    /// of a text, which takes many times its bytes.
    ///
    /// - Parameter maximum: Elements to decode, from 1 to ``ListLimit/elements``.
    /// - Throws: `DecodingError` if it is no list.
    public init(json: Data, maximum: Int = ListLimit.elements) throws {
        let prefix = JSONPrefix.ofArray(json, elements: maximum)
        let list = try JSONDecoder().decode(Self.self, from: prefix ?? json)
        values = list.values
        isTruncated = list.isTruncated || prefix != nil
    }
}

/// The length of lists that upstreams send.
public enum ListLimit {
    /// Most elements that are decoded: some hundred times what the APIs have.
    public static let elements = 10_000
}
