import Foundation
import Subprocess
import TestKit
import Testing

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
