public import Foundation
import HTTPSemantics
import HTTPServer
import Synchronization

/// A body that is sent often: its entity tags are made once, and it is compressed once, for the first client that needs
/// it so. To compress all files of the front end takes a tenth of the server's start.
public final class PreparedBytes: Sendable {
    /// The bytes.
    public let bytes: Data
    /// Their media type.
    public let type: String
    private let gzip = Mutex<Data?>(nil)
    private let tag: String
    private let tagOfCompressed: String

    /// Prepares bytes.
    public init(_ bytes: Data, type: String) {
        self.bytes = bytes
        self.type = type
        tag = EntityTag.strong(for: bytes)
        tagOfCompressed = EntityTag.strong(for: bytes, variant: "gzip")
    }

    /// Returns the bytes in gzip; nil if that is not worth it.
    ///
    /// - Throws: `Gzip.Failure`.
    public func compressed() throws -> Data? {
        guard ScreenResponseRenderer.isCompressible(bytes, type) else { return nil }
        return try gzip.withLock { known in
            if let known { return known }
            let made = try Gzip.compress(bytes, level: 9)
            known = made
            return made
        }
    }

    func entityTag(isCompressed: Bool) -> String { isCompressed ? tagOfCompressed : tag }
}
