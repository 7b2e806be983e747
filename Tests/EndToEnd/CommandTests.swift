import Foundation
import TestKit
import Testing

/// The executable as a program: settings, exit codes, help.
@Suite(.timeLimit(.minutes(2))) struct CommandTests {
    private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> (
        status: Int32, errors: String
    ) {
        let process = RunningProcess(arguments, environment: environment)
        let status = await process.ended()
        return (status, process.log)
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
            (["--config", "/nowhere/larder.yaml"], [:], ["/nowhere/larder.yaml"]),
        ]
        for (arguments, environment, expected) in cases {
            let (status, errors) = try await run(["serve"] + arguments, environment: environment)
            #expect(status == 78)
            for text in expected { #expect(errors.contains(text), "\(errors) lacks \(text)") }
        }
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
        let (status, errors) = try await run(["serve", "--http-port", "0", "--data-directory", data.path])
        #expect(status == 1)
        #expect(errors.contains(data.path) && errors.contains(first.process.pid.map { "\($0)" } ?? "no pid"))
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

    @Test("SRV-12 a port that is taken is named, and the exit code is 1")
    func takenPort() async throws {
        let first = try await RunningLarder.start(data: try TemporaryFolder())
        let port = try #require(first.client.base.split(separator: ":").last.map(String.init))
        let (status, errors) = try await run([
            "serve", "--http-port", port, "--data-directory", try TemporaryFolder().path,
        ])
        #expect(status == 1)
        #expect(errors.contains("127.0.0.1:\(port)") && errors.contains("http.port"))
    }

    @Test("SRV-13 an address that is none is named, and the exit code is 1")
    func noAddress() async throws {
        let (status, errors) = try await run([
            "serve", "--http-host", "256.0.0.1", "--http-port", "0", "--data-directory", try TemporaryFolder().path,
        ])
        #expect(status == 1)
        #expect(errors.contains("larder: cannot listen on 256.0.0.1:0") && errors.contains("http.host"), "\(errors)")
    }

    @Test("doctor: 0 when all is well, 2 when an upstream is away, 1 when the data cannot be used")
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
        try await sandbox.fault("offline")
        let away = RunningProcess(arguments + [sandbox.spacex])
        #expect(await away.ended() == 2)
        #expect(try await away.line(after: "upstream spacex").contains("warn"))
        try Data("this is no database".utf8).write(to: data.url.appending(path: "larder.sqlite"))
        let broken = RunningProcess(arguments + [sandbox.spacex])
        #expect(await broken.ended() == 1)
    }

    @Test("--version and --help answer and end with 0")
    func help() async throws {
        let version = RunningProcess(["--version"])
        #expect(await version.ended() == 0)
        #expect(try await version.line(after: "0.") != "")
        let help = RunningProcess(["serve", "--help"])
        #expect(await help.ended() == 0)
        #expect(try await help.line(after: "  --upstreams-spacex-url") == "")
    }
}
