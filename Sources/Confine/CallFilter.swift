import CConfine
import Glibc

/// The system calls that are denied to a program: a filter that the kernel runs before each call of the process and its
/// children. Source: docs.kernel.org, "Seccomp BPF" (userspace-api/seccomp_filter).
///
/// Calls that are not named here are allowed, because libraries need different ones from release to release. Calls that
/// are newer than this file fail as if the kernel did not have them.
struct CallFilter {
    /// Whether the kernel has filters, and the numbers of calls on this architecture are known.
    static var isAvailable: Bool {
        larder_architecture() != 0 && larder_try_call_filter() != 0 && errno == EFAULT
    }

    /// The number of the process to which alone the program may send signals.
    var process: Int32
    /// Whether the program may listen at Unix sockets.
    var allowsListening = false

    /// Installs the filter permanently. The process must not be able to gain privileges.
    ///
    /// - Returns: 0, or -1 with an error in `errno`.
    func install() -> Int32 {
        let instructions = instructions
        return larder_set_call_filter(instructions, UInt16(instructions.count))
    }

    var instructions: [sock_filter] {
        // Calls of another architecture, such as a 32-bit one, have other numbers.
        var all: [sock_filter] = [
            .load(Offset.architecture), .skip(1, ifEqual: larder_architecture()), .kill,
            .load(Offset.number), .skip(1, ifBelow: Self.firstUnknown), .refuse(ENOSYS),
        ]
        for call in Self.refused { all += [.skip(0, ifEqual: call, else: 1), .refuse(EPERM)] }
        // Their arguments are in memory, where a filter cannot read them. If they fail, programs use the older calls.
        for call in [SYS_clone3, SYS_openat2] { all += [.skip(0, ifEqual: UInt32(call), else: 1), .refuse(ENOSYS)] }
        for condition in conditions { all += condition.instructions }
        return all + [.allow]
    }

    /// The number of the first call after those of Linux 5.17, the same on all architectures.
    private static let firstUnknown: UInt32 = 450

    private static var refused: [UInt32] {
        (0...).lazy.map { larder_refused_call($0) }.prefix { $0 >= 0 }.map { UInt32($0) }
    }

    private var conditions: [Condition] {
        let namespaces =
            CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
        let stream = [UInt32(SOCK_STREAM.rawValue)]
        // Programs send these requests to any descriptor, to detect a terminal or waiting data. Other requests change
        // files and devices.
        let requests = [TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX]
        var all = [
            // Stream sockets cannot send to an address, and `connect` is denied.
            Condition(SYS_socket, argument: 0, isOneOf: allowsListening ? [UInt32(AF_UNIX)] : []),
            Condition(SYS_socket, argument: 1, mask: 0xF, isOneOf: stream),
            Condition(SYS_socketpair, argument: 1, mask: 0xF, isOneOf: stream),
            Condition(SYS_kill, argument: 0, isOneOf: [UInt32(bitPattern: process)]),
            Condition(SYS_tgkill, argument: 0, isOneOf: [UInt32(bitPattern: process)]),
            Condition(SYS_prlimit64, argument: 0, isOneOf: [0]),
            Condition(SYS_clone, argument: 0, mask: UInt32(namespaces), isOneOf: [0]),
            Condition(SYS_ioctl, argument: 1, isOneOf: requests.map { UInt32($0) }, else: ENOTTY),
            Condition(SYS_openat, argument: 2, mask: Self.emptying.mask, isOneOf: Self.emptying.allowed),
        ]
        #if arch(x86_64)
        all.append(Condition(SYS_open, argument: 1, mask: Self.emptying.mask, isOneOf: Self.emptying.allowed))
        #endif
        return all
    }

    /// A file that is opened for reading can be emptied as well. Landlock denies this from version 3 on.
    private static let emptying = (
        mask: UInt32(O_TRUNC | O_ACCMODE),
        allowed: [O_RDONLY, O_WRONLY, O_RDWR, O_TRUNC | O_WRONLY, O_TRUNC | O_RDWR].map { UInt32($0) }
    )

    /// Offsets in `struct seccomp_data`.
    fileprivate enum Offset {
        static let number: UInt32 = 0
        static let architecture: UInt32 = 4
        /// The lower half of an argument, on little-endian machines.
        static func argument(_ index: UInt32) -> UInt32 { 16 + 8 * index }
    }

    /// A call that is allowed if an argument has one of some values.
    private struct Condition {
        let call: Int32
        let argument: UInt32
        let mask: UInt32
        let allowed: [UInt32]
        let error: Int32

        init(_ call: Int32, argument: UInt32, mask: UInt32 = .max, isOneOf allowed: [UInt32], else error: Int32 = EPERM)
        {
            (self.call, self.argument, self.mask, self.allowed, self.error) = (call, argument, mask, allowed, error)
        }

        var instructions: [sock_filter] {
            let count = UInt8(allowed.count)
            let comparisons = allowed.enumerated().map { index, value in
                sock_filter.skip(count - UInt8(index), ifEqual: value)
            }
            return [.load(Offset.number), .skip(0, ifEqual: UInt32(call), else: count + 3)]
                + [.load(Offset.argument(argument)), .and(mask)] + comparisons + [.refuse(error)]
        }
    }
}

extension sock_filter {
    fileprivate static func load(_ offset: UInt32) -> Self { make(BPF_LD | BPF_W | BPF_ABS, offset) }

    fileprivate static func and(_ mask: UInt32) -> Self { make(BPF_ALU | BPF_AND | BPF_K, mask) }

    /// Skips instructions if the loaded value equals a number.
    fileprivate static func skip(_ count: UInt8, ifEqual number: UInt32, else other: UInt8 = 0) -> Self {
        make(BPF_JMP | BPF_JEQ | BPF_K, number, count, other)
    }

    /// Skips instructions if the loaded value is less than a number.
    fileprivate static func skip(_ count: UInt8, ifBelow number: UInt32) -> Self {
        make(BPF_JMP | BPF_JGE | BPF_K, number, 0, count)
    }

    fileprivate static func refuse(_ error: Int32) -> Self {
        make(BPF_RET | BPF_K, UInt32(SECCOMP_RET_ERRNO) | UInt32(error))
    }

    fileprivate static var allow: Self { make(BPF_RET | BPF_K, UInt32(SECCOMP_RET_ALLOW)) }

    fileprivate static var kill: Self { make(BPF_RET | BPF_K, UInt32(SECCOMP_RET_KILL_PROCESS)) }

    private static func make(_ code: Int32, _ value: UInt32, _ ifTrue: UInt8 = 0, _ ifFalse: UInt8 = 0) -> Self {
        sock_filter(code: UInt16(code), jt: ifTrue, jf: ifFalse, k: value)
    }
}
