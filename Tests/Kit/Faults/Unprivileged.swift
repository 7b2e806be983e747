import CFaultInjection
package import Foundation

/// Runs code without the rights of root, which may read and write everything.
package enum Unprivileged {
    /// The rights could not be given up.
    package struct Unavailable: Error {}

    /// The user without rights, who owns the files under test.
    package static let user: uid_t = geteuid() == 0 ? 65534 : geteuid()

    /// Runs `body` on a thread of its own, with the rights of ``user``, and waits for it.
    ///
    /// - Throws: The error of `body`; ``Unavailable``.
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        guard geteuid() == 0 else { return try body() }
        let done = DispatchSemaphore(value: 0)
        let box = Box<Value>()
        Thread {
            if larder_become_nobody() == 0 {
                box.result = Result { try body() }
                _ = larder_become_root()
            }
            done.signal()
        }.start()
        done.wait()
        return try box.result.get()
    }

    /// The semaphore orders the accesses.
    private final class Box<Value>: @unchecked Sendable {
        var result: Result<Value, any Error> = .failure(Unavailable())
    }
}
