import CConfine
import Foundation
import TestKit
import Testing

@testable import Confine

@Suite(.timeLimit(.minutes(10))) struct ConfineCommandTests {
    @Test("It becomes the program, with its arguments and exit code")
    func becomes() throws {
        #expect(
            try Shell.run("'\(Shell.confine)' --folder /tmp -- /bin/sh -c 'echo \"$1\"; exit 3' sh 'a b'; echo $?")
                == "a b\n3\n"
        )
    }

    @Test("A failure has the exit codes of env(1) and starts nothing")
    func refusals() throws {
        #expect(
            try Shell.run("'\(Shell.confine)' --folder /tmp -- /nowhere 2>&1; echo $?")
                == "larder-confine: /nowhere: No such file or directory\n126\n"
        )
        let usage = try Shell.run("'\(Shell.confine)' --folder tmp -- /bin/echo started 2>&1; echo $?")
        #expect(
            usage.hasPrefix("larder-confine: usage: ") && usage.hasSuffix("\n125\n") && !usage.contains("started\n")
        )
    }

    @Test("It ends with its parent, however and however soon that ends", arguments: ["cat started; ", ""])
    func orphan(meanwhile: String) throws {
        let temporary = try TemporaryFolder()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.path
        let pid = try Shell.run(
            """
            cd '\(folder)'; mkfifo started
            '\(Shell.confine)' --parent $$ --folder '\(folder)' -- \\
                /bin/sh -c 'echo >started; exec sleep 1000' >/dev/null 2>&1 & echo $!
            \(meanwhile)kill -9 $$
            """
        ).split(separator: "\n")[0]
        while let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8), !stat.contains(") Z") {
            sched_yield()
        }
    }

    @Test("TRUST-26 nothing beside a program, or beside larder-confine itself, can be read")
    func beside() throws {
        let (home, job) = (try TemporaryFolder(), try TemporaryFolder())
        for (program, name) in [(Shell.confine, "larder-confine"), ("/bin/cat", "larder-pdf-worker")] {
            try FileManager.default.copyItem(
                at: URL(filePath: program).resolvingSymlinksInPath(),
                to: home.url.appending(path: name)
            )
        }
        try Data("PRIVATE".utf8).write(to: home.url.appending(path: "key.pem"))
        try FileManager.default.createDirectory(at: home.url.appending(path: ".ssh"), withIntermediateDirectories: true)
        try Data("PRIVATE".utf8).write(to: home.url.appending(path: ".ssh/id"))
        let said = try Shell.run(
            """
            cd '\(home.path)'; '\(home.path)/larder-confine' --folder '\(job.path)' -- '\(home.path)/larder-pdf-worker' \
                /proc/self/comm key.pem .ssh/id '\(home.path)/key.pem' 2>&1
            '\(home.path)/larder-confine' --folder '\(job.path)' -- /bin/ls '\(home.path)' 2>&1
            """
        )
        let lines = said.split(separator: "\n")
        #expect(lines.first == "larder-pdf-work" && !said.contains("PRIVATE"), "\(said)")
        #expect(lines.count == 5 && lines.dropFirst().allSatisfy { $0.hasSuffix("Permission denied") }, "\(said)")
    }

    @Test("TRUST-26 a program inherits no descriptor but its standard streams")
    func descriptors() throws {
        let (home, job) = (try TemporaryFolder(), try TemporaryFolder())
        let file = home.path + "/key.pem"
        try Data("PRIVATE".utf8).write(to: URL(filePath: file))
        let said = try Shell.run(
            "'\(Shell.confine)' --folder '\(job.path)' -- /bin/sh -c 'cat <&7; echo ended' 7<'\(file)' 2>&1"
        )
        #expect(said.hasSuffix("ended\n") && !said.contains("PRIVATE"), "\(said)")
    }
}

/// Runs scripts that start larder-confine.
enum Shell {
    /// The executable, beside the test bundle.
    static let confine = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent()
        .appending(path: "larder-confine").path

    /// Runs a script and returns its output.
    static func run(_ script: String) throws -> String {
        let stream = try #require(popen(script, "r"))
        var text = ""
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), stream) != nil {
            text += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        pclose(stream)
        return text
    }
}

@Suite struct ConfineOrderTests {
    @Test("options, then the program with its arguments, whatever they look like")
    func reads() throws {
        let order = try #require(
            ConfineOrder([
                "--strict", "--parent", "7", "--read", "/a", "--read", "/b c", "--folder", "/jobs/1", "--",
                "/usr/bin/vips", "--read", "--", "-x",
            ])
        )
        #expect(order.isStrict && order.parent == 7)
        #expect(order.reads == ["/a", "/b c"])
        #expect(order.folder == "/jobs/1")
        #expect(order.command == ["/usr/bin/vips", "--read", "--", "-x"])
    }

    @Test(
        "what makes no sense is refused, so that nothing runs with more than was meant",
        arguments: [
            [], ["--folder", "/jobs/1"], ["--folder", "/jobs/1", "--"], ["--", "/bin/true"],
            ["--folder", "work", "--", "/bin/true"],
            ["--folder", "/jobs/1", "--", "true"], ["--read", "a", "--folder", "/jobs/1", "--", "/bin/true"],
            ["--folder", "/jobs/1", "--write", "/", "--", "/bin/true"], ["--folder", "/jobs/1", "/bin/true"],
            ["--folder"],
            ["--parent", "x", "--folder", "/jobs/1", "--", "/bin/true"],
        ]
    )
    func refused(arguments: [String]) {
        #expect(ConfineOrder(arguments) == nil)
    }

    @Test("TRUST-26 only the folder may be changed, what is in it may not be run, and no other folder is opened")
    func grants() throws {
        let order = try #require(
            ConfineOrder([
                "--read", "/data/photo", "--sockets", "/sockets", "--folder", "/jobs/1", "--",
                "/opt/larder/bin/larder-pdf-worker",
            ])
        )
        let grants = order.grants(build: ["/toolchain/lib/libswiftCore.so"])
        #expect(grants.filter { $0.rights.contains(.writeFile) }.map(\.path) == ["/dev/null", "/jobs/1"])
        #expect(
            grants.filter { $0.rights.contains(.execute) }.map(\.path)
                == [
                    "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/bin", "/lib", "/lib32",
                    "/lib64", "/toolchain/lib/libswiftCore.so", "/opt/larder/bin/larder-pdf-worker",
                ]
        )
        #expect(grants.contains(Grant("/data/photo", .reading)) && grants.contains(Grant("/sockets", .makeSocket)))
        for closed in [
            "/", "/etc", "/home", "/root", "/proc", "/tmp", "/var", "/jobs", "/data", "/opt", "/dev", "/usr",
            "/usr/local", "/opt/larder", "/opt/larder/bin", "/toolchain/lib",
        ] {
            #expect(!grants.contains { $0.path == closed }, "\(closed)")
        }
    }

    @Test(
        "a LibreOffice that is not of the distribution has its own folder",
        arguments: [
            ("/opt/office7/program/soffice", "/opt/office7"), ("/usr/bin/soffice", nil), ("/program/soffice", nil),
            ("/opt/office7/program/vips", nil),
        ]
    )
    func office(program: String, folder: String?) throws {
        let grants = try #require(ConfineOrder(["--folder", "/jobs/1", "--", program])).grants(build: [])
        let last = try #require(grants.last { $0.rights.contains(.execute) })
        #expect(last.path == folder ?? program)
    }

    @Test("the folders of the libraries that a process consists of, without those of the system")
    func loaded() throws {
        let maps = [
            "55d0-55d1 r-xp 00000000 08:01 131  /srv/larder/bin/larder-confine\n",
            "7f00-7f01 r--p 00000000 08:01 132  /usr/lib/x86_64-linux-gnu/libc.so.6\n",
            "7f01-7f02 r-xp 00001000 08:01 132  /srv/swift/linux/libswiftCore.so\n",
            "7f01-7f02 r-xp 00001000 08:01 132  /srv/swift/linux/libswift_Concurrency.so\n",
            "7f01-7f02 r--s 00001000 08:01 134  /srv/data/larder.sqlite\n",
            "7ffc-7ffd rw-p 00000000 00:00 0  [stack]\n",
            "7f03-7f04 rw-p 00000000 00:00 0 \n", "7f05-7f06 r--p 00000000 08:01 133  /libfirst.so\n",
        ]
        #expect(LoadedFiles.folders(in: maps) == ["/srv/swift/linux"])
        let folder = try TemporaryFolder()
        for name in ["libb.so", "libc.so.6", "so", "key.pem", "solid.txt", "notes.so.txt"] {
            try Data().write(to: folder.url.appending(path: name))
        }
        #expect(
            LoadedFiles.libraries(in: folder.path).sorted()
                == ["libb.so", "libc.so.6", "notes.so.txt"].map { "\(folder.path)/\($0)" }
        )
    }
}

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
