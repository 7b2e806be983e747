import CFaultInjection
import Foundation

/// Faults of the system calls on the files of one folder, for the database in it as well. Files have to be opened
/// behind its creation.
public final class FaultScope: Sendable {
    /// What shall fail.
    public struct Fault: Sendable, CustomStringConvertible {
        /// Name for a person.
        public let description: String
        let kinds: larder_fault_kinds.RawValue
        let code: Int32
        let isLasting: Bool

        /// The disk is full from one call on, and stays so.
        public static let fullDisk = Fault(
            description: "ENOSPC",
            kinds: larder_fault_writing.rawValue,
            code: ENOSPC,
            isLasting: true
        )
        /// One call finds no room, as if others had used and freed it.
        public static let noRoomOnce = Fault(
            description: "ENOSPC once",
            kinds: larder_fault_writing.rawValue,
            code: ENOSPC,
            isLasting: false
        )
        /// The quota is used up from one call on.
        public static let quota = Fault(
            description: "EDQUOT",
            kinds: larder_fault_writing.rawValue,
            code: EDQUOT,
            isLasting: true
        )
        /// The disk does not write from one call on, and removes nothing.
        public static let brokenDisk = Fault(
            description: "EIO",
            kinds: larder_fault_writing.rawValue | larder_fault_reading.rawValue | larder_fault_removing.rawValue,
            code: EIO,
            isLasting: true
        )
        /// One call fails.
        public static let brokenOnce = Fault(
            description: "EIO once",
            kinds: larder_fault_writing.rawValue | larder_fault_reading.rawValue | larder_fault_removing.rawValue,
            code: EIO,
            isLasting: false
        )

        /// Those that every loop tries; the others differ from them in little.
        public static let all: [Fault] = [.fullDisk, .brokenDisk, .brokenOnce]
    }

    /// There are too many scopes at once, or the system is another one than Linux.
    public struct Unavailable: Error {}

    private let number: Int32

    /// Watches the files below a folder.
    public init(_ folder: String) throws {
        number = larder_fault_open(folder)
        guard number >= 0 else { throw Unavailable() }
    }

    deinit { larder_fault_close(number) }

    /// Runs `body` while the call number `step` fails, counted from 1.
    ///
    /// - Returns: Whether a call has failed: no more steps are left where none has.
    public func failing<Value>(
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
}
