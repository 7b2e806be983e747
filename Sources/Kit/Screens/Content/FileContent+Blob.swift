import Concurrency
package import Database
package import Foundation
import NIOCore
import Upstream

extension FileContent {
    /// Serves a stored blob.
    package init(
        blob: BlobReader,
        type: String,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil,
        disposition: Disposition = .inline
    ) {
        self.init(
            type: type,
            length: blob.blob.length,
            version: version,
            lastModified: lastModified,
            fileName: fileName,
            disposition: disposition
        ) { range in
            ByteStream(blob, range: range)
        }
    }

    /// Serves bytes in memory.
    package init(
        bytes: Data,
        type: String,
        version: String,
        lastModified: Date? = nil,
        fileName: String? = nil,
        disposition: Disposition = .inline
    ) {
        let buffer = ByteBuffer(bytes: bytes)
        self.init(
            type: type,
            length: bytes.count,
            version: version,
            lastModified: lastModified,
            fileName: fileName,
            disposition: disposition
        ) { range in
            ByteStream(buffer.getSlice(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer())
        }
    }
}
