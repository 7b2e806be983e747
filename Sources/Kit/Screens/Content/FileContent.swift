package import Concurrency
package import Foundation
import Upstream

/// A file as a response's body: bytes of a known length and version that are read as the client takes them.
package struct FileContent: Sendable {
    /// How a browser treats it (RFC 6266 §4.2).
    package enum Disposition: String, Sendable {
        /// The browser shows it.
        case inline
        /// The browser saves it.
        case attachment
    }

    /// Media type.
    package var type: String
    /// Number of bytes.
    package var length: Int
    /// Identifies this version of the bytes, without quotes: printable ASCII except `"`. It becomes a strong entity tag
    /// (RFC 9110 §8.8.3).
    package var version: String
    /// When the bytes last changed, if that is known.
    package var lastModified: Date?
    /// File name, if it has one.
    package var fileName: String?
    /// How a browser treats it.
    package var disposition: Disposition
    /// Reads the bytes in a range, in parts of moderate size.
    package var parts: @Sendable (Range<Int>) throws -> ByteStream

    /// Describes a file.
    package init(
        type: String,
        length: Int,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil,
        disposition: Disposition = .inline,
        parts: @escaping @Sendable (Range<Int>) throws -> ByteStream
    ) {
        self.type = type
        self.length = length
        self.version = version
        self.lastModified = lastModified
        self.fileName = fileName
        self.disposition = disposition
        self.parts = parts
    }

    var entityTag: String { "\"\(version)\"" }
}
