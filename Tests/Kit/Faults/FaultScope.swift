import CFaultInjection
package import Foundation

/// Injects faults into the system calls on the files of one folder, including those of SQLite. Files must be opened
/// after its creation.
package final class FaultScope: Sendable {
    /// A kind of fault.
    package struct Fault: Sendable, CustomStringConvertible {
        /// The name in reports.
        package let description: String
        let kinds: larder_fault_kinds.RawValue
        let code: Int32
        let isLasting: Bool

        /// The disk is full from one call on.
        package static let fullDisk = Fault(
            description: "ENOSPC",
            kinds: larder_fault_writing.rawValue,
            code: ENOSPC,
            isLasting: true
        )
        /// One call finds no space, as if another process had used and freed it.
        package static let noRoomOnce = Fault(
            description: "ENOSPC once",
            kinds: larder_fault_writing.rawValue,
            code: ENOSPC,
            isLasting: false
        )
        /// The quota is exhausted from one call on.
        package static let quota = Fault(
            description: "EDQUOT",
            kinds: larder_fault_writing.rawValue,
            code: EDQUOT,
            isLasting: true
        )
        /// The disk does not read, write or remove from one call on.
        package static let brokenDisk = Fault(
            description: "EIO",
            kinds: larder_fault_writing.rawValue | larder_fault_reading.rawValue | larder_fault_removing.rawValue,
            code: EIO,
            isLasting: true
        )
        /// One call fails.
        package static let brokenOnce = Fault(
            description: "EIO once",
            kinds: larder_fault_writing.rawValue | larder_fault_reading.rawValue | larder_fault_removing.rawValue,
            code: EIO,
            isLasting: false
        )

        /// One call is not permitted, as link(2) on file systems without hard links.
        package static let noLinks = Fault(
            description: "EPERM once",
            kinds: larder_fault_writing.rawValue,
            code: EPERM,
            isLasting: false
        )

        /// The faults that every loop tries; the others differ little from them.
        package static let all: [Fault] = [.fullDisk, .brokenDisk, .brokenOnce]
    }

    /// There are too many scopes, or the system is not Linux.
    package struct Unavailable: Error {}

    private let number: Int32

    /// Creates a scope of the files below a folder.
    package init(_ folder: String) throws {
        number = larder_fault_open(folder)
        guard number >= 0 else { throw Unavailable() }
    }

    deinit { larder_fault_close(number) }

    /// Runs `body` while the system call number `step`, counted from 1, fails.
    ///
    /// - Returns: The value of `body`, and whether a call has failed: otherwise `body` has fewer calls.
    package func failing<Value>(
        _ fault: Fault,
        at step: Int,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async -> Value
    ) async -> (value: Value, hasFailed: Bool) {
        larder_fault_arm(number, Int32(fault.kinds), step, fault.code, fault.isLasting ? 1 : 0)
        let value = await body()
        _ = larder_fault_disarm(number)
        return (value, larder_fault_count(number) > 0)
    }

    /// Runs `body` in the same way, and returns the error that it throws.
    package func error(
        of fault: Fault,
        at step: Int,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Void
    ) async -> (error: (any Error)?, hasFailed: Bool) {
        let (error, hasFailed) = await failing(fault, at: step, isolation: isolation) { () -> (any Error)? in
            do {
                try await body()
                return nil
            } catch {
                return error
            }
        }
        return (error, hasFailed)
    }
}

/// Runs code without the rights of root, which may read and write everything.
package enum Unprivileged {
    /// The rights could not be given up.
    package struct Unavailable: Error {}

    /// The user without rights, who owns the files under test.
    package static let user: uid_t = geteuid() == 0 ? 65534 : geteuid()

    /// Runs `body` on a thread of its own, with the rights of ``user``, and waits for it.
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
