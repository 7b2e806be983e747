import Crypto
import Foundation
import NIOCore

/// The checksums of an upload that is kept here, computed while its bytes arrive.
struct UploadChecksums {
    /// Bytes so far.
    private(set) var count = 0
    private var md5 = Insecure.MD5()
    private var sha256 = SHA256()

    mutating func update(_ part: ByteBuffer) {
        part.withUnsafeReadableBytes { bytes in
            md5.update(bufferPointer: bytes)
            sha256.update(bufferPointer: bytes)
        }
        count += part.readableBytes
    }

    /// Returns the length and the checksums of all bytes.
    func finish(at now: Date) -> QueuedWrite.Bytes {
        QueuedWrite.Bytes(
            length: count,
            md5: Self.hexadecimal(md5.finalize()),
            sha256: Self.hexadecimal(sha256.finalize()),
            at: now
        )
    }

    /// Returns bytes in lower-case hexadecimal, as the API writes checksums.
    static func hexadecimal(_ digest: some Sequence<UInt8>) -> String {
        digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
