import Foundation
package import SystemPackage

/// A terminal that a test gives to a program, to read its output there.
package final class PseudoTerminal: Sendable {
    /// The system has none left.
    package struct Unavailable: Error {
        let code: Int32
    }

    /// The side of the terminal that the program writes to.
    package let device: FileDescriptor
    private let master: Int32

    // asm-generic/ioctls.h: TIOCSPTLCK, TIOCGPTN.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Opens a terminal.
    ///
    /// - Throws: ``Unavailable``.
    package init() throws {
        // The functions of stdlib.h are not in Swift's module of glibc.
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, Int32) = (0, 0)
        guard master >= 0, ioctl(master, Self.setLock, &lock) == 0, ioctl(master, Self.getNumber, &number) == 0 else {
            throw Unavailable(code: errno)
        }
        let device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw Unavailable(code: errno) }
        self.device = FileDescriptor(rawValue: device)
    }

    deinit { close(master) }

    /// Reads the program's output until it has closed the terminal.
    package func collect(_ take: @escaping @Sendable (String) -> Void) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = read(master, &buffer, buffer.count), count > 0 {
                    take(String(decoding: buffer[..<count], as: UTF8.self))
                }
                continuation.resume()
            }
        }
    }
}
