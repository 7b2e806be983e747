import Foundation

/// The addresses of the rows of a list, by their ids, which are any texts of an API.
package struct ItemPaths: Sendable {
    /// Largest size of an id in UTF-8, in bytes; percent-encoded, it fits into every request line.
    package static let longestID = 256

    private let base: Link
    // A few: an array is searched faster than a set.
    private let reserved: [String]

    /// - Parameters:
    ///   - base: The address of the list.
    ///   - reserved: Segments below it that are other routes.
    package init(_ base: Link, reserved: [String] = []) {
        self.base = base
        // URIs give a meaning to two more (RFC 3986 §3.3).
        self.reserved = reserved + [".", ".."]
    }

    /// Returns the address of the row with an id. `~` before an id keeps it apart from reserved segments.
    package func link(to id: String) -> Link {
        let isMarked = id.hasPrefix("~") || reserved.contains(id)
        return isMarked ? "\(base)/~\(id)" : "\(base)/\(id)"
    }

    /// Returns the id that a segment of a path names; nil if it cannot be one.
    package func id(in segment: String) -> String? {
        Self.identity(String(segment.hasPrefix("~") ? segment.dropFirst() : segment[...]))
    }

    /// Returns the id that a text of the API or of a client is, in Unicode NFC: two texts that Swift takes for equal
    /// are one key of the database, too. Nil if it cannot be an id.
    ///
    /// A text with NUL is never looked up, since SQLite would find `id` for `id\0more`.
    package static func identity(_ text: String) -> String? {
        let id = text.precomposedStringWithCanonicalMapping
        let isUsable =
            (1...longestID).contains(id.utf8.count) && !id.utf8.contains(0) && !id.allSatisfy(\.isWhitespace)
        return isUsable ? id : nil
    }
}
