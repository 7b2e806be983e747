import TestKit

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
