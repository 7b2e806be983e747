import Foundation
import TestKit
import Testing

/// The progress of commands that take long.
@Suite(.timeLimit(.minutes(10))) struct ProgressTests {
    /// A data directory with a document, a file and a stored response.
    private func directory() async throws -> TemporaryFolder {
        let (data, sandbox) = (try TemporaryFolder(), try await RunningSandbox.start())
        let larder = try await RunningLarder.start(data: data, upstream: sandbox.spacex)
        #expect(try await larder.guest().get("/v1/ships").status == 200)
        let document = try await larder.client.document(of: [DocumentTests.photo])
        #expect(try await larder.client.post("\(document)/save", "{}").status == 200)
        #expect(await larder.stop() == 0)
        return data
    }

    @Test("SRV-16 Doctor, backup, restore and purge show their steps on a terminal, and nothing in a pipe")
    func commands() async throws {
        let (data, folder) = (try await directory(), try TemporaryFolder())
        // Nothing listens at this port: the upstreams respond at once that they are away.
        let away = ["spacex", "catalogue", "people", "yandex-disk", "yandex-oauth"].flatMap {
            ["--upstreams-\($0)-url", "http://127.0.0.1:9"]
        }
        let commands: [(arguments: [String], steps: [String])] = [
            (
                ["doctor", "--deep"] + away,
                ["checking the database", "reading files", "trying programs", "asking spacex"]
            ),
            (["backup", folder.path + "/BACKUP"], ["copying files", "copying the database", "reading the copies"]),
            (["restore", folder.path + "/backup-true", "--data-directory", folder.path + "/NEW"], ["copying files"]),
            (["cache", "purge", "--all"], ["removing responses", "returning free pages"]),
        ]
        for (arguments, steps) in commands {
            for isOnTerminal in [true, false] {
                var arguments = arguments.map {
                    $0.replacing("BACKUP", with: "backup-\(isOnTerminal)").replacing("NEW", with: "new-\(isOnTerminal)")
                }
                if !arguments.contains("--data-directory") { arguments += ["--data-directory", data.path] }
                let process = RunningProcess(
                    arguments,
                    environment: ["TERM": "xterm"],
                    terminal: isOnTerminal ? try PseudoTerminal() : nil
                )
                let status = await process.ended()
                #expect(status == 0 || arguments[0] == "doctor" && status == 2, "\(arguments): \(process.log)")
                for step in steps {
                    #expect(process.log.contains(step) == isOnTerminal, "\(arguments): \(process.log)")
                }
                #expect(!process.output.contains("\r") && (isOnTerminal || process.log.isEmpty), "\(process.log)")
                // The line is removed at the end.
                #expect(!isOnTerminal || process.log.hasSuffix("\r\u{1B}[K"), "\(process.log)")
            }
        }
    }
}
