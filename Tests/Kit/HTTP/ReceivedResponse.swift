package import Foundation

/// A whole response, as a test looks at it.
package struct ReceivedResponse: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: Data

    /// A header field by name; several lines joined.
    package subscript(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON.
    package var json: JSON { get throws { try JSON(body) } }
}
