import CConfine
import Foundation
import TestKit
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(10))) struct ConfinedProcessTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static let limits = ChildLimits(memory: 1 << 30, processor: .seconds(20), wall: .seconds(60))

    private func shell(
        _ script: String,
        in scratch: Scratch,
        limits: ChildLimits = limits,
        environment: [String: String] = [:]
    ) throws -> ConfinedProcess {
        ConfinedProcess(
            prlimit: try scratch.tools.path(of: .prlimit),
            confine: try scratch.tools.path(of: .confine),
            executable: "/bin/bash",
            arguments: ["-c", script],
            folder: scratch.folder.path,
            isStrict: true,
            limits: limits,
            environment: environment
        )
    }

    @Test("it sees no files but the system's, its folder and what it was given, and changes its folder only")
    func files() async throws {
        let (scratch, elsewhere) = (try Scratch(), try Scratch())
        let (given, other) = (
            try elsewhere.write("given".utf8, to: "given"), try elsewhere.write("other".utf8, to: "other")
        )
        var process = try shell(
            """
            cat "\(given.path)"; cat "\(other.path)"; ls "\(elsewhere.folder.path)"
            cat /etc/shadow /proc/1/environ; ls / /tmp "$HOME/.."
            echo x >>"\(given.path)"; echo x >"\(elsewhere.url("new").path)"
            rm -f "\(given.path)"; : >/tmp/larder-escaped-$$
            cp /bin/true runs && ./runs && echo ran
            echo inside >file; mkdir deep; mv file deep/file; cat deep/file
            """,
            in: scratch
        )
        process.reads = [given.path]
        let outcome = try await process.run()
        #expect(String(decoding: outcome.output, as: UTF8.self) == "giveninside\n", "\(outcome.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: elsewhere.folder.path).sorted() == ["given", "other"]
        )
        #expect(try String(contentsOf: given, encoding: .utf8) == "given")
        for denied in ["given", "other", "new", "shadow", "environ", "runs"] {
            #expect(
                outcome.errors.split(separator: "\n").contains { $0.contains(denied) && $0.contains("denied") },
                "\(denied): \(outcome.errors)"
            )
        }
    }

    @Test("TRUST-26 it changes nothing of a file that it may read, and leaves no link, pipe or socket as a result")
    func attributes() async throws {
        let (scratch, elsewhere) = (try Scratch(), try Scratch())
        let given = try elsewhere.write("given".utf8, to: "given")
        var before = stat()
        try #require(stat(given.path, &before) == 0)
        var process = try shell(
            """
            chmod 666 "\(given.path)"; chmod 777 .; touch "\(given.path)"; chown 1 "\(given.path)"
            perl -e 'truncate $ARGV[0], 0 or print STDERR "truncate: $!\n"' "\(given.path)"
            perl -MFcntl -e 'sysopen F, $ARGV[0], O_RDONLY | O_TRUNC or print STDERR "open: $!\n"' "\(given.path)"
            ln -s /etc/shadow out.pdf; ln "\(given.path)" out.pdf; mkfifo out.pdf; mknod out.pdf c 1 3
            perl -MSocket -e 'socket S, PF_UNIX, SOCK_STREAM, 0 and bind S, sockaddr_un("out.pdf") or print STDERR "bind: $!\n"'
            ls
            """,
            in: scratch
        )
        process.reads = [given.path]
        let outcome = try await process.run()
        #expect(outcome.output.isEmpty && outcome.ending == .exited(0), "\(outcome)")
        let refusals = outcome.errors.split(separator: "\n")
        #expect(refusals.count == 11, "\(outcome.errors)")
        for line in refusals {
            let reasons = ["Operation not permitted", "Permission denied", "Invalid cross-device link"]
            #expect(reasons.contains { line.hasSuffix($0) }, "\(line)")
        }
        var after = stat()
        try #require(stat(given.path, &after) == 0)
        #expect(before.st_mode == after.st_mode && before.st_uid == after.st_uid && after.st_nlink == 1)
        #expect(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_atim.tv_nsec == after.st_atim.tv_nsec)
        #expect(try String(contentsOf: given, encoding: .utf8) == "given")
    }

    @Test("TRUST-26 it reaches no Unix socket, neither by a path nor by a name, and no server by UDP")
    func sockets() async throws {
        let (scratch, elsewhere) = (try Scratch(), try Scratch())
        let path = elsewhere.url("socket").path
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isOpen = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isOpen && listen(listener, 8) == 0)
        let call = """
            use Socket;
            socket(S, PF_UNIX, SOCK_STREAM, 0) and connect(S, sockaddr_un($ARGV[0])) and print "connected\n";
            socket(D, PF_UNIX, SOCK_DGRAM, 0) and print "made\n"; socket(U, PF_INET, SOCK_DGRAM, 0) and print "made\n";
            """
        #expect(try await scratch.text(of: "perl", ["-e", call, path]) == "connected\nmade\nmade\n")
        var process = try shell("", in: scratch)
        (process.executable, process.arguments) = ("/usr/bin/perl", ["-e", call, path])
        process.reads = [path]
        #expect(try await process.run() == ChildOutcome(ending: .exited(0), output: [], errors: ""))
    }

    @Test("it reaches no server by TCP") func network() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isOpen && listen(listener, 8) == 0)
        let call = "exec 3<>/dev/tcp/127.0.0.1/\(UInt16(bigEndian: address.sin_port)) && echo reached"
        #expect(try await scratch.text(of: "bash", ["-c", call]) == "reached\n")
        let outcome = try await shell(call, in: scratch).run()
        #expect(outcome.output.isEmpty && outcome.errors.contains("Operation not permitted"), "\(outcome)")
    }

    @Test("its output, its errors and its code come back") func ordinaryEnd() async throws {
        let outcome = try await shell("echo out; echo err >&2; exit 3", in: scratch).run()
        #expect(outcome == ChildOutcome(ending: .exited(3), output: Array("out\n".utf8), errors: "err\n"))
    }

    @Test("its environment holds what it needs and nothing of Larder's") func environment() async throws {
        let outcome = try await shell(
            "env | grep -v -E '^(PWD|SHLVL|_|OLDPWD)=' | sort",
            in: scratch,
            environment: ["MORE": "1"]
        ).run()
        let folder = scratch.folder.path
        #expect(
            String(decoding: outcome.output, as: UTF8.self)
                == "HOME=\(folder)\nLC_ALL=C.UTF-8\nMORE=1\nPATH=/usr/local/bin:/usr/bin:/bin\nTMPDIR=\(folder)\n"
        )
    }

    @Test("its limits are set, and it has a session of its own") func limits() async throws {
        let outcome = try await shell(
            "ulimit -v; ulimit -t; ulimit -c; ulimit -n; cut -d' ' -f6 /proc/$$/stat; echo $$; pwd",
            in: scratch
        ).run()
        let lines = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n")
        #expect(lines.prefix(4) == ["1048576", "20", "0", "256"])
        #expect(lines[4] == lines[5])
        #expect(lines[6] == "\(scratch.folder.resolvingSymlinksInPath().path)")
    }

    @Test("when its time is over, it and all that it started are killed") func deadline() async throws {
        var limits = Self.limits
        limits.wall = .milliseconds(300)
        let outcome = try await shell("sleep 1000 & echo $!; echo $$; sleep 1000", in: scratch, limits: limits).run()
        #expect(outcome.ending == .deadline)
        #expect(outcome.failure(of: .vips, limits: limits) == .timedOut(.vips))
        let pids = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").compactMap { Int32($0) }
        #expect(pids.count == 2)
        for pid in pids { await ends(pid) }
    }

    @Test("what it leaves behind when it ends is killed too") func leftBehind() async throws {
        let outcome = try await shell("sleep 1000 >/dev/null 2>&1 & echo $!", in: scratch).run()
        #expect(outcome.ending == .exited(0))
        let pid = try #require(Int32(String(decoding: outcome.output, as: UTF8.self).dropLast()))
        await ends(pid)
    }

    @Test("one that has left its group cannot block Larder by its output") func escaped() async throws {
        var limits = Self.limits
        limits.wall = .milliseconds(300)
        let outcome = try await shell(
            "setsid sh -c 'echo $$ >escaped.pid; exec sleep 1000' & wait",
            in: scratch,
            limits: limits
        ).run()
        #expect(outcome.ending == .deadline)
        if let text = try? String(contentsOf: scratch.url("escaped.pid"), encoding: .utf8),
            let pid = Int32(text.dropLast())
        {
            kill(pid, SIGKILL)
        }
    }

    @Test("a cancelled one is killed") func cancellation() async throws {
        let pipe = scratch.url("pid").path
        try #require(mkfifo(pipe, 0o600) == 0)
        let process = try shell("echo $$ >pid; sleep 1000", in: scratch)
        let task = Task { try await process.run() }
        // Opening a named pipe to read waits for who writes, so not on the threads of the other tests.
        let line = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: FileHandle(forReadingAtPath: pipe)?.readDataToEndOfFile())
            }
        }
        let pid = try #require(line.flatMap { Int32(String(decoding: $0.dropLast(), as: UTF8.self)) })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await ends(pid)
    }

    @Test("processor time beyond its limit is a time-out") func processorTime() async throws {
        var limits = Self.limits
        limits.processor = .seconds(1)
        let outcome = try await shell("while :; do :; done", in: scratch, limits: limits).run()
        #expect(outcome.failure(of: .pdftoppm, limits: limits) == .timedOut(.pdftoppm))
    }

    @Test("a file beyond its limit is too large") func fileSize() async throws {
        var limits = Self.limits
        limits.fileBytes = 1 << 20
        let outcome = try await shell("exec head -c 2000000 /dev/zero >big", in: scratch, limits: limits).run()
        #expect(outcome.failure(of: .vips, limits: limits) == .tooLarge(.output(limit: 1 << 20)))
    }

    @Test("memory beyond its limit is refused to it") func memory() async throws {
        var limits = Self.limits
        limits.memory = 64 << 20
        let outcome = try await shell("exec dd if=/dev/zero of=/dev/null bs=200M count=1", in: scratch, limits: limits)
            .run()
        #expect(outcome.ending == .exited(1))
        #expect(outcome.failure(of: .vips, limits: limits) == .tooLarge(.memory(limit: 64 << 20)))
    }

    @Test("endless output is read and dropped") func output() async throws {
        var limits = Self.limits
        limits.capturedBytes = 1000
        let outcome = try await shell("yes | head -c 5000000; yes | head -c 5000000 >&2", in: scratch, limits: limits)
            .run()
        #expect(outcome.ending == .exited(0))
        #expect(outcome.output.count == 1000)
        #expect(outcome.errors.utf8.count == 1000)
    }

    @Test("lines arrive one by one") func lines() async throws {
        var splitter = LineSplitter()
        #expect(splitter.add(Array("a\nb".utf8)) == ["a"])
        #expect(splitter.add(Array("c\n\n".utf8)) == ["bc", ""])
        #expect(splitter.add([UInt8](repeating: 0x78, count: 5000)) == [])
        #expect(splitter.add(Array("\nd\n".utf8)) == ["", "d"])
    }

    @Test("signals are crashes unless they, or its words, tell of a limit") func endings() {
        func failure(_ ending: ChildOutcome.Ending, _ errors: String = "") -> MediaError? {
            ChildOutcome(ending: ending, output: [], errors: errors).failure(of: .vips, limits: Self.limits)
        }
        #expect(failure(.signaled(6)) == .crashed(.vips, signal: 6))
        #expect(
            failure(.signaled(6), "terminate called after throwing an instance of 'std::bad_alloc'")
                == .tooLarge(.memory(limit: 1 << 30))
        )
        #expect(
            failure(.signaled(5), "GLib-ERROR: failed to allocate 4294967296 bytes")
                == .tooLarge(.memory(limit: 1 << 30))
        )
        #expect(failure(.exited(0)) == nil)
        #expect(failure(.exited(1), "broken") == nil)
    }

    /// Whether a process is there and no zombie.
    /// Waits until a process does not exist any more.
    private func ends(_ pid: Int32, sourceLocation: SourceLocation = #_sourceLocation) async {
        await BoundedWait.poll(for: "the end of process \(pid)", sourceLocation: sourceLocation) { !isAlive(pid) }
    }

    private func isAlive(_ pid: Int32) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return !stat.contains(") Z")
    }
}
