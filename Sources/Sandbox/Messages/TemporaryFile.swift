import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file without a name: it is removed when its last descriptor is closed, even if the process is killed.
final class TemporaryFile: Sendable {
    /// A call of the system that failed.
    struct Failure: Error, CustomStringConvertible {
        let call: String
        let code: CInt

        var description: String { "\(call) of a temporary file failed: errno \(code)" }
    }

    private let descriptor: CInt
    private let length = Mutex(0)

    init() throws {
        var path = Array(
            FileManager.default.temporaryDirectory.appending(path: "larder-sandbox-XXXXXX").path.utf8CString
        )
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Failure(call: "mkstemp", code: errno) }
        unlink(path)
        // Children that the process starts must not keep it.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    var count: Int { length.withLock { $0 } }

    func append(_ bytes: [UInt8]) throws {
        try length.withLock { length in
            try bytes.withUnsafeBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let written = pwrite(
                        descriptor,
                        buffer.baseAddress?.advanced(by: done),
                        buffer.count - done,
                        off_t(length)
                    )
                    guard written > 0 else { throw Failure(call: "pwrite", code: errno) }
                    done += written
                    length += written
                }
            }
        }
    }

    func read(_ range: Range<Int>) throws -> [UInt8] {
        var code: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = 0
            while count < range.count {
                let got = pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: count),
                    range.count - count,
                    off_t(range.lowerBound + count)
                )
                guard got > 0 else {
                    code = got < 0 ? errno : EIO
                    return
                }
                count += got
            }
        }
        guard code == 0 else { throw Failure(call: "pread", code: code) }
        return bytes
    }
}
