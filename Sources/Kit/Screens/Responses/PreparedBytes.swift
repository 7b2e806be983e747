public import Foundation
import HTTPSemantics
import HTTPServer

/// A body that is sent often: it is compressed, and its entity tags are made, once.
public struct PreparedBytes: Sendable {
    /// The bytes.
    public let bytes: Data
    /// Their media type.
    public let type: String
    /// The bytes in gzip; nil if that is not worth it.
    public let compressed: Data?
    private let tag: String
    private let tagOfCompressed: String

    /// Prepares bytes.
    ///
    /// - Throws: `Gzip.Failure`.
    public init(_ bytes: Data, type: String) throws {
        self.bytes = bytes
        self.type = type
        compressed = ScreenResponseRenderer.isCompressible(bytes, type) ? try Gzip.compress(bytes, level: 9) : nil
        tag = EntityTag.strong(for: bytes)
        tagOfCompressed = EntityTag.strong(for: bytes, variant: "gzip")
    }

    func entityTag(isCompressed: Bool) -> String { isCompressed ? tagOfCompressed : tag }
}
