import Foundation
import Subprocess
import TestKit
import Testing

/// The executable as a program: settings, exit codes, help.
@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> (
        status: Int32, errors: String
    ) {
        let process = RunningProcess(arguments, environment: environment)
        let status = await process.ended()
        return (status, process.log)
    }

    @Test("SRV-13 for an unknown command the known ones are listed, and the exit code is 64")
    func wrongCommands() async throws {
        let cases = [
            (["serv"], "there is no command larder serv; did you mean larder serve?"),
            (["backup"], "one directory is expected: larder backup TARGET"),
            (["cache", "lst"], "there is no command larder cache lst; did you mean larder cache list?"),
            (["cache", "forget", "--all"], "there is no command larder cache forget; there are list, size, purge"),
        ]
        for (arguments, expected) in cases {
            let (status, errors) = try await run(arguments)
            #expect(status == 64)
            #expect(errors == "larder: \(expected)\n")
        }
    }

    @Test("SRV-16 completions of every shell have every command")
    func completions() async throws {
        let commands = ["serve", "sandbox", "doctor", "backup", "restore", "key", "cache", "account", "settings"]
        for shell in ["bash", "zsh", "fish"] {
            let script = RunningProcess(["--generate-completion-script", shell])
            #expect(await script.ended() == 0)
            for command in commands + ["reset-password", "--data-directory"] {
                #expect(script.output.contains(command), "\(shell): \(command)")
            }
        }
    }

    @Test("SRV-13 a data directory that cannot be made is named, with what to do, and nothing was printed before")
    func noFolder() async throws {
        let process = RunningProcess(["serve", "--sandbox", "--http-port", "0", "--data-directory", "/proc/nope"])
        #expect(await process.ended() == 1)
        #expect(process.output.isEmpty)
        #expect(
            process.log == """
                larder: The folder /proc/nope cannot be made: its file system lets no folders be made there. \
                Choose another data directory.

                """
        )
    }

    @Test("SRV-13 a wrong value is named at start, with where it came from and what is accepted")
    func wrongValues() async throws {
        let cases: [([String], [String: String], [String])] = [
            (
                ["--http-port", "eighty"], [:],
                ["command line --http-port", "eighty", "a whole number from 0 to 65535"]
            ),
            ([], ["LARDER_SHIPS_DELETED": "maybe"], ["environment LARDER_SHIPS_DELETED", "hidden or literal"]),
            (["--upstreams-spacex-url", "ftp://x"], [:], ["upstreams.spacex.url", "http:// or https://"]),
            (["--htp-port", "1"], [:], ["--htp-port", "did you mean --http-port"]),
            ([], ["LARDER_HTTP_PROT": "1"], ["LARDER_HTTP_PROT", "LARDER_HTTP_PORT"]),
            (["--http-port"], [:], ["--http-port needs a value"]),
            (["--http-host", ""], [:], ["--http-host needs a value"]),
            (["--sandbx"], [:], ["did you mean --sandbox"]),
            (["--config", "/nowhere/larder.yaml"], [:], ["/nowhere/larder.yaml"]),
        ]
        for (arguments, environment, expected) in cases {
            let (status, errors) = try await run(["serve"] + arguments, environment: environment)
            #expect(status == 78)
            for text in expected { #expect(errors.contains(text), "\(errors) lacks \(text)") }
        }
        let (status, errors) = try await run(["doctor", "--sandbox"])
        #expect(status == 78 && errors.contains("did you mean larder serve --sandbox or "), "\(errors)")
    }

    @Test("SRV-13 command line beats environment beats file beats default")
    func precedence() async throws {
        let data = try TemporaryFolder()
        let file = data.url.appending(path: "larder.yaml")
        let settings =
            "ships: {login_delay_ms: 0}\nlog: {format: json, level: debug}\nhttp:\n  allowed_hosts: [from.file]\n"
        try settings.write(to: file, atomically: true, encoding: .utf8)
        let larder = try await RunningLarder.start(
            data: data,
            ["--config", file.path, "--log-format", "text"],
            environment: ["LARDER_LOG_FORMAT": "json", "LARDER_HTTP_ALLOWED_HOSTS": "from.environment"]
        )
        #expect(try await larder.client.get("/v1", ["Host": "from.environment"]).status == 200)
        #expect(try await larder.client.get("/v1", ["Host": "from.file"]).status == 403)
        #expect(larder.process.log.contains("{") == false, "the flag beats the variable beats the file")
    }

    @Test("SRV-11 a second Larder in the same data directory says so and leaves the first alone")
    func secondInstance() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        let second = RunningProcess(["serve", "--sandbox", "--http-port", "0", "--data-directory", data.path])
        #expect(await second.ended() == 1)
        #expect(second.log.contains(data.path) && second.log.contains(first.process.pid.map { "\($0)" } ?? "no pid"))
        #expect(second.output.isEmpty && second.log.split(separator: "\n").count == 1, "\(second.log)")
        #expect(try await first.client.get("/health/ready").status == 200)
    }

    @Test("TRUST-03 a start that is refused after the database was opened says why in one sentence, with exit code 1")
    func refusedStart() async throws {
        let data = try TemporaryFolder()
        let first = try await RunningLarder.start(data: data)
        await first.kill9()
        try FileManager.default.removeItem(at: data.url.appending(path: "larder.key"))
        let (status, errors) = try await run(["serve", "--http-port", "0", "--data-directory", data.path])
        #expect(status == 1, "\(errors)")
        #expect(errors.contains("larder: ") && errors.contains("larder.key"), "\(errors)")
        #expect(!errors.contains("Fatal error"), "\(errors)")
    }

    @Test("SRV-12 a port in use is named, and the exit code is 1")
    func takenPort() async throws {
        let first = try await RunningLarder.start()
        let port = try #require(first.client.base.split(separator: ":").last.map(String.init))
        let (status, errors) = try await run([
            "serve", "--http-port", port, "--data-directory", try TemporaryFolder().path,
        ])
        #expect(status == 1)
        #expect(errors.contains("127.0.0.1:\(port)") && errors.contains("http.port"))
    }

    @Test("SRV-13 an invalid address is named, and the exit code is 1")
    func noAddress() async throws {
        let (status, errors) = try await run([
            "serve", "--http-host", "256.0.0.1", "--http-port", "0", "--http-access", "open", "--data-directory",
            try TemporaryFolder().path,
        ])
        #expect(status == 1)
        #expect(errors.contains("larder: cannot listen on 256.0.0.1:0") && errors.contains("http.host"), "\(errors)")
    }

    @Test("SRV-13 an address of another machine is refused in one sentence, without noise of the sandbox")
    func foreignAddress() async throws {
        let data = try TemporaryFolder()
        // 192.0.2.0/24 is for documentation: no machine has it.
        let process = RunningProcess([
            "serve", "--sandbox", "--http-host", "192.0.2.1", "--http-port", "0", "--http-access", "open",
            "--data-directory", data.path,
        ])
        #expect(await process.ended() == 1)
        #expect(process.output.isEmpty)
        #expect(process.log.contains("larder: cannot listen on 192.0.2.1:0: this machine does not have that address; "))
        for noise in ["errno", "bind(", "Cancellation", " error larder"] {
            #expect(!process.log.contains(noise), "\(process.log)")
        }
    }

    @Test("doctor: 0 if all is well, 2 if an upstream is unreachable, 1 if the data cannot be used")
    func doctor() async throws {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let arguments =
            ["doctor", "--data-directory", data.path]
            + ["catalogue", "people", "yandex_disk", "yandex_oauth"].flatMap { name in
                ["--upstreams-\(name.replacing("_", with: "-"))-url", "\(sandbox.base)/\(name)"]
            } + ["--upstreams-spacex-url"]
        let well = RunningProcess(arguments + [sandbox.spacex])
        #expect(await well.ended() == 0)
        #expect(try await well.line(after: "database").contains("ok"))
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: data.path)
        let open = RunningProcess(arguments + [sandbox.spacex])
        #expect(await open.ended() == 2)
        #expect(try await open.line(after: "data directory").contains("other users may write"))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: data.path)
        #expect(!well.output.contains("ok    missing"))
        try await sandbox.fault("offline")
        let away = RunningProcess(arguments + [sandbox.spacex])
        #expect(await away.ended() == 2)
        #expect(try await away.line(after: "upstream spacex").contains("warn"))
        let elsewhere = RunningProcess(arguments + [sandbox.spacex, "--node-apps", "notes,shop"])
        #expect(await elsewhere.ended() == 0)
        #expect(!elsewhere.output.contains("upstream spacex") && elsewhere.output.contains("upstream people"))
        try Data("this is no database".utf8).write(to: data.url.appending(path: "larder.sqlite"))
        let broken = RunningProcess(arguments + [sandbox.spacex])
        #expect(await broken.ended() == 1)
    }

    @Test("TRUST-27 A changed byte of a document: the file is never sent as whole, all else is, doctor --deep names it")
    func changedByte() async throws {
        let data = try TemporaryFolder()
        let larder = try await RunningLarder.start(data: data)
        let (one, two) = (
            try await larder.client.document(of: [DocumentTests.photo]),
            try await larder.client.document(of: [DocumentTests.photo, DocumentTests.photo])
        )
        let whole = try await larder.client.get("\(two)/file").body
        let bytes = try await larder.client.get("\(one)/file").body
        let folder = data.url.appending(path: "blobs")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).first {
                try Data(contentsOf: folder.appending(path: $0)) == bytes
            }
        )
        var changed = bytes
        changed[changed.count / 2] ^= 1
        let file = try FileHandle(forWritingTo: folder.appending(path: name))
        try file.write(contentsOf: changed)
        try file.close()
        for _ in 1...2 {
            let response = try? await larder.client.get("\(one)/file")
            #expect(response?.status != 200)
        }
        #expect(try await larder.client.get(one).status == 200)
        #expect(try await larder.client.get("\(two)/file").body == whole)
        #expect(await larder.stop() == 0)
        let doctor = RunningProcess(["doctor", "--deep", "--data-directory", data.path])
        #expect(await doctor.ended() == 1)
        #expect(doctor.output.contains("1 changed: \(name)"), "\(doctor.output)")
        let quick = RunningProcess(["doctor", "--data-directory", data.path])
        await quick.ended()
        #expect(quick.output.contains("--deep compares their content"), "\(quick.output)")
    }

    @Test("--version and --help print and exit with 0")
    func help() async throws {
        let version = RunningProcess(["--version"])
        #expect(await version.ended() == 0)
        #expect(try await version.line(after: "0.") != "")
        let help = RunningProcess(["serve", "--help"])
        #expect(await help.ended() == 0)
        #expect(help.output.contains("\n  --http-port\n") && !help.output.contains("--media-vips-cpu-s"))
        #expect(help.output.split(separator: "\n").count < 110, "\(help.output)")
        let all = RunningProcess(["serve", "--help", "all"])
        #expect(await all.ended() == 0)
        #expect(all.output.contains("\n  --http-port\n") && all.output.contains("\n  --media-vips-cpu-s\n"))
    }
}

/// A server that has hardly any descriptors left.
@Suite(.timeLimit(.minutes(10))) struct DescriptorTests {
    /// Sets the soft limit of open files of a running process.
    private static func limit(_ pid: Int32, to files: Int) async throws {
        try await RunningProcess.output(of: "prlimit", ["--pid", "\(pid)", "--nofile=\(files):"])
    }

    private static func open(_ pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    @Test("TRUST-09 too few descriptors for a program neither end the process nor blame the file, however few are left")
    func few() async throws {
        let larder = try await RunningLarder.start()
        let pid = try #require(larder.process.pid)
        #expect(try await larder.client.upload([DocumentTests.photo]).status == 201)
        let used = try Self.open(pid)
        for left in stride(from: 30, through: 2, by: -1) {
            try await Self.limit(pid, to: used + left)
            let response = try? await larder.client.upload([DocumentTests.photo])
            if let response {
                let code = response.status == 201 ? nil : try response.json.code.string
                #expect([nil, "processing-unavailable", "storage-failed"].contains(code), "\(left): \(response.text)")
            }
        }
        try await Self.limit(pid, to: 1024)
        #expect(try await larder.client.upload([DocumentTests.photo]).status == 201)
        #expect(await larder.stop() == 0)
    }
}

/// Standard output and standard error without a reader.
@Suite(.timeLimit(.minutes(10))) struct StandardStreamsTests {
    private static let serve = ["serve", "--http-port", "0", "--data-directory"]

    @Test("SRV-12 a server serves although its standard output has no reader before it listens")
    func unreadOutput() async throws {
        let data = try TemporaryFolder()
        let process = RunningProcess(Self.serve + [data.path, "--log-format", "text"], unread: .output)
        let listening = "Server started and listening on "
        try await process.logged("\(listening)127.0.0.1:")
        let line = try #require(process.log.split(separator: "\n").first { $0.contains(listening) })
        let address = try #require(line.split(separator: " ").last)
        #expect(try await Client(base: "http://\(address)").get("/health/live").status == 200)
        process.signal(SIGTERM)
        #expect(await process.ended() == 0)
    }

    @Test("SRV-12 a server serves although its log has no reader")
    func unreadLog() async throws {
        let data = try TemporaryFolder()
        let process = RunningProcess(Self.serve + [data.path, "--log-level", "debug"], unread: .errors)
        let client = Client(base: try await process.line(after: "listening on "))
        #expect(try await client.get("/health/live").status == 200)
        process.signal(SIGTERM)
        #expect(await process.ended() == 0)
    }

    @Test("SRV-13 a command whose output has no reader ends by SIGPIPE without a message, also if that is ignored")
    func unreadCommand() async throws {
        let process = RunningProcess(["settings"], unread: .output)
        #expect(await process.ended() == SIGPIPE)
        #expect(process.log.isEmpty)
        // The pipe is opened for reading first: a FIFO without a reader cannot be opened for writing.
        let fifo = try TemporaryFolder()
        let script = #"trap '' PIPE; mkfifo "$1/p"; exec 3<>"$1/p" 4>"$1/p" 3<&-; exec "$0" settings >&4 4>&-"#
        let ended = try await Subprocess.run(
            .name("sh"),
            arguments: ["-c", script, RunningProcess.executable, fifo.path],
            output: .discarded,
            error: .string(limit: 10_000)
        )
        #expect(ended.terminationStatus == .signaled(SIGPIPE))
        #expect(ended.standardError == "")
    }

    @Test("SRV-13 a command says why its output cannot be written, and the exit code is 1")
    func fullDevice() async throws {
        let ended = try await Subprocess.run(
            .name("sh"),
            arguments: ["-c", #"exec "$0" settings >/dev/full"#, RunningProcess.executable],
            output: .discarded,
            error: .string(limit: 10_000)
        )
        #expect(ended.terminationStatus == .exited(1))
        #expect(ended.standardError == "larder: standard output cannot be written: No space left on device\n")
    }

    @Test("SRV-13 no file of a server has the number of a standard stream, with which it was not started")
    func closedStreams() async throws {
        let data = try TemporaryFolder()
        let script = #"exec "$0" serve --http-port 0 --data-directory "$1" >&- <&-"#
        let ended = try await Subprocess.run(
            .name("sh"),
            arguments: ["-c", script, RunningProcess.executable, data.path],
            input: .none,
            output: .discarded,
            error: .sequence
        ) { execution in
            var log = ""
            var streams: [String] = []
            for try await part in execution.standardError {
                log += part.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                guard streams.isEmpty, log.contains("listening on ") else { continue }
                streams = try [0, 1].map {
                    try FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(execution.processIdentifier.value)/fd/\($0)"
                    )
                }
                try execution.send(signal: .terminate)
            }
            return streams
        }
        #expect(ended.closureResult == ["/dev/null", "/dev/null"])
        #expect(ended.terminationStatus == .exited(0))
    }
}
