import Foundation

/// The formats that openapi.yaml uses.
enum SchemaFormat: String {
    /// RFC 3339 §5.6.
    case dateTime = "date-time"
    /// RFC 3986 §4.1.
    case uriReference = "uri-reference"

    /// The bytes of a body that is no JSON (OpenAPI 3.0; generators make a stream of it).
    case binary

    func holds(for text: String) -> Bool {
        switch self {
        case .binary: return true
        case .dateTime:
            let shape = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/
            guard text.wholeMatch(of: shape) != nil else { return false }
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
            return (try? Date(text, strategy: style)) != nil
        case .uriReference:
            // Characters first: Foundation would encode invalid ones instead of refusing them.
            let characters = /([A-Za-z0-9\-._~:\/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*/
            return text.wholeMatch(of: characters) != nil && text.filter { $0 == "#" }.count <= 1
        }
    }
}
