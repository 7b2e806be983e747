package import Foundation

/// JSON that can be walked by names and places.
@dynamicMemberLookup
package struct JSON: @unchecked Sendable {
    // JSONSerialization gives immutable values.
    package let value: Any?

    package init(_ data: Data) throws {
        value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    }
    private init(value: Any?) { self.value = value is NSNull ? nil : value }

    package subscript(dynamicMember name: String) -> JSON { JSON(value: (value as? [String: Any])?[name]) }
    package subscript(_ index: Int) -> JSON {
        JSON(value: (value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil })
    }

    package var string: String? { value as? String }
    package var int: Int? { value as? Int }
    package var bool: Bool? { value as? Bool }
    package var array: [JSON] { (value as? [Any] ?? []).map { JSON(value: $0) } }
    package var strings: [String] { value as? [String] ?? [] }
    package var isNull: Bool { value == nil }
}
