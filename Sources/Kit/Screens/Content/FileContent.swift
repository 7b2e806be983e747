public import Concurrency
public import Foundation
import Upstream

/// A file as a response's body: bytes of a known length and version that are read as the client takes them.
public struct FileContent: Sendable {
    /// How a browser treats it (RFC 6266 §4.2).
    public enum Disposition: String, Sendable {
        /// The browser shows it.
        case inline
        /// The browser saves it.
        case attachment
    }

    /// Media type.
    public var type: String
    /// Number of bytes.
    public var length: Int
    /// Identifies this version of the bytes, without quotes: printable ASCII except `"`. It becomes a strong entity tag
    /// (RFC 9110 §8.8.3).
    public var version: String
    /// When the bytes last changed, if that is known.
    public var lastModified: Date?
    /// File name, if it has one.
    public var fileName: String?
    /// How a browser treats it.
    public var disposition: Disposition
    /// Reads the bytes in a range, in parts of moderate size.
    public var parts: @Sendable (Range<Int>) throws -> ByteStream

    /// Describes a file.
    public init(
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
