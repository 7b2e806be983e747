package import Foundation
import HTTPSemantics
import HTTPServer
import NIOCore
import Synchronization

/// A body that is sent often: its entity tags are made once, and it is compressed once, for the first client that needs
/// it so. To compress all files of the front end takes a tenth of the server's start. Its responses share the bytes.
package final class PreparedBytes: Sendable {
    /// The bytes as the body of a response.
    let body: ByteBuffer
    /// Their media type.
    package let type: String
    private let gzip = Mutex<ByteBuffer?>(nil)
    private let tag: String
    private let tagOfCompressed: String

    /// Prepares bytes.
    package init(_ bytes: Data, type: String) {
        body = ByteBuffer(bytes: bytes)
        self.type = type
        tag = EntityTag.strong(for: bytes)
        tagOfCompressed = EntityTag.strong(for: bytes, variant: "gzip")
    }

    /// The bytes.
    package var bytes: Data { Data(body.readableBytesView) }

    /// Returns the bytes in gzip; nil if that is not worth it.
    ///
    /// - Throws: `Gzip.Failure`.
    package func compressed() throws -> Data? { try compressedBody().map { Data($0.readableBytesView) } }

    /// Returns the same as the body of a response.
    ///
    /// - Throws: `Gzip.Failure`.
    func compressedBody() throws -> ByteBuffer? {
        guard ScreenResponseRenderer.isCompressible(body.readableBytes, type) else { return nil }
        return try gzip.withLock { known in
            if let known { return known }
            let made = ByteBuffer(bytes: try Gzip.compress(bytes, level: 9))
            known = made
            return made
        }
    }

    func entityTag(isCompressed: Bool) -> String { isCompressed ? tagOfCompressed : tag }
}
