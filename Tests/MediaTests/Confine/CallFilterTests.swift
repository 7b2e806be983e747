import CConfine
import Foundation
import TestKit
import Testing

@testable import Confine

/// System calls as a confined program makes them, by the function `syscall` of Perl.
@Suite(.timeLimit(.minutes(10))) struct CallFilterTests {
    /// Makes calls in one confined process.
    ///
    /// - Parameter calls: arguments of `syscall`: numbers and strings.
    /// - Returns: the error of each, 0 if it succeeded.
    private func errors(_ calls: [String], options: String = "", in folder: TemporaryFolder) throws -> [Int32] {
        let script =
            "my ($pair, $file) = ('x' x 8, '\(folder.path)/file');\n"
            + calls.map { "$! = 0; syscall(\($0)); print $! + 0, qq(\\n);\n" }.joined()
        let file = folder.path + "/calls.pl"
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let said = try Shell.run(
            "'\(Shell.confine)' --strict \(options) --folder '\(folder.path)' -- /usr/bin/perl '\(file)' 2>&1"
        )
        let errors = said.split(separator: "\n").compactMap { Int32($0) }
        try #require(errors.count == calls.count, "\(said)")
        return errors
    }

    @Test("TRUST-26 calls that reach beyond the files of a job are refused, whatever their arguments")
    func refused() throws {
        let refused = (0...).lazy.map { larder_refused_call($0) }.prefix { $0 >= 0 }
        let calls =
            Array(refused) + [SYS_socket, SYS_io_setup, SYS_ptrace, SYS_unshare, SYS_mount, SYS_bpf, SYS_keyctl]
        #expect(Set(calls).count > 90)
        let errors = try errors(calls.map { "\($0), 0, 0, 0, 0, 0, 0" }, in: try TemporaryFolder())
        for (call, error) in zip(calls, errors) { #expect(error == EPERM, "\(call): \(error)") }
    }

    @Test(
        "TRUST-26 calls whose arguments a filter cannot see, and newer ones, are missing",
        arguments: [435, 437, 450]
    )
    func missing(call: Int32) throws {
        let calls = [call, 452, 463, 466, 469, 600, 0x4000_0000 + 41].map { "\($0), 0, 0, 0, 0, 0, 0" }
        #expect(try errors(calls, in: try TemporaryFolder()) == calls.map { _ in ENOSYS })
    }

    @Test("TRUST-26 sockets, signals, limits, requests of devices and emptying depend on their arguments")
    func arguments() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/file"
        try Data("content".utf8).write(to: URL(filePath: file))
        let stream = SOCK_STREAM.rawValue
        let calls: [(String, Int32)] = [
            ("\(SYS_socket), \(AF_UNIX), \(stream), 0", EPERM),
            ("\(SYS_socket), \(AF_INET), \(stream), 0", EPERM),
            ("\(SYS_socket), \(AF_INET), \(SOCK_DGRAM.rawValue), 0", EPERM),
            ("\(SYS_socket), \(AF_NETLINK), \(SOCK_RAW.rawValue), 0", EPERM),
            ("\(SYS_socketpair), \(AF_UNIX), \(stream), 0, $pair", 0),
            ("\(SYS_socketpair), \(AF_UNIX), \(SOCK_DGRAM.rawValue), 0, $pair", EPERM),
            ("\(SYS_kill), $$ + 0, 0", 0), ("\(SYS_kill), getppid(), 0", EPERM), ("\(SYS_kill), -1, 0", EPERM),
            ("\(SYS_kill), 0, 0", EPERM),
            ("\(SYS_tgkill), $$ + 0, $$ + 0, 0", 0), ("\(SYS_tgkill), getppid(), getppid(), 0", EPERM),
            ("\(SYS_prlimit64), 0, 0, 0, 0", 0), ("\(SYS_prlimit64), getppid(), 0, 0, 0", EPERM),
            ("\(SYS_clone), \(CLONE_NEWUSER | SIGCHLD), 0, 0, 0, 0", EPERM),
            // FS_IOC_SETFLAGS, TIOCSTI.
            ("\(SYS_ioctl), 0, 0x40086602, 0", ENOTTY), ("\(SYS_ioctl), 0, 0x5412, 0", ENOTTY),
            ("\(SYS_openat), -100, $file, \(O_RDONLY | O_TRUNC)", EPERM),
            ("\(SYS_openat), -100, $file, \(O_RDWR)", 0),
        ]
        let errors = try errors(calls.map(\.0), in: folder)
        for (call, error) in zip(calls, errors) { #expect(error == call.1, "\(call.0)") }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "content")
    }

    @Test("TRUST-26 a program with a folder for sockets can listen, and connects to nothing")
    func listening() throws {
        let stream = SOCK_STREAM.rawValue
        let calls = [
            "\(SYS_socket), \(AF_UNIX), \(stream), 0", "\(SYS_socket), \(AF_UNIX), \(SOCK_DGRAM.rawValue), 0",
            "\(SYS_socket), \(AF_INET), \(stream), 0", "\(SYS_connect), 3, 0, 0",
        ]
        let folder = try TemporaryFolder()
        #expect(try errors(calls, options: "--sockets '\(folder.path)'", in: folder) == [0, EPERM, EPERM, EPERM])
    }

    #if arch(x86_64)
    @Test("TRUST-26 a call with the numbers of 32 bits ends the program")
    func otherArchitecture() throws {
        let folder = try TemporaryFolder()
        // mov eax, 20 (getpid); int 0x80; ret
        let script = """
            import ctypes, mmap
            page = mmap.mmap(-1, 4096, prot=7)
            page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
            call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
            print("ready", flush=True)
            print("called", call())
            """
        try script.write(toFile: folder.path + "/call.py", atomically: true, encoding: .utf8)
        let said = try Shell.run(
            "'\(Shell.confine)' --strict --folder '\(folder.path)' -- /usr/bin/python3 '\(folder.path)/call.py'; echo $?"
        )
        #expect(said == "ready\n\(128 + SIGSYS)\n")
    }
    #endif
}
