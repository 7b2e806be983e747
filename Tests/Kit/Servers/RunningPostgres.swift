import Dispatch
import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// A PostgreSQL of the tests: its own files in a temporary folder, a Unix socket and no port. It ends with the value,
/// and with the process of the tests however that ends.
package final class RunningPostgres: Sendable {
    /// PostgreSQL has not started, or a command has failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Reads commands: at the end of its input, it stops the server and removes the folder. The server refuses to run
    /// as root, and a path of a socket has 107 bytes at most, so its folder is not below TMPDIR.
    private static let script = #"""
        programs=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
        folder=$(mktemp -d /tmp/larder-pg-XXXXXX)
        as=
        if [ "$(id -u)" = 0 ]; then
          as="setpriv --reuid nobody --regid nogroup --clear-groups"
          chown nobody "$folder"
        fi
        cd "$folder"
        failed() { cat "$folder/$1" >&2; echo failed; }
        start() {
          $as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 120 start -o "-c listen_addresses= \
            -c unix_socket_directories=$folder -c fsync=off -c max_connections=300 -c shared_buffers=32MB \
            -c autovacuum=off" >/dev/null || failed log
        }
        stop() { $as "$programs/pg_ctl" -D "$folder/data" -m "$1" -w -t 120 stop >/dev/null 2>&1; }
        $as "$programs/initdb" -D "$folder/data" -U larder -A trust -E UTF8 --locale C.UTF-8 --no-sync \
          >"$folder/initdb" 2>&1 || failed initdb
        start
        echo "$folder"
        while read -r command name; do
          case $command in
            schema | database)
              $as "$programs/psql" -q -h "$folder" -U larder postgres -c "CREATE $command $name" 2>&1 ;;
            stop) stop "$name" ;;
            start) start ;;
          esac
          echo "done"
        done
        stop immediate
        cd /
        rm -rf "$folder"
        """#

    private let input: FileDescriptor
    private let output: FileDescriptor
    private let numbers = Mutex(0)
    private let turn = Mutex(())
    private let folder: String

    /// The one that most tests share, each with a schema of its own.
    package static let shared = Task { try await start() }

    /// Starts a server on a thread that may wait for it, and returns it when it responds.
    package static func start() async throws -> RunningPostgres {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try RunningPostgres() }) }
        }
    }

    private init() throws {
        let (commands, lines) = (try FileDescriptor.pipe(), try FileDescriptor.pipe())
        (input, output) = (commands.writeEnd, lines.readEnd)
        // It ends when its input does.
        Task {
            try await Subprocess.run(
                .path("/bin/sh"),
                arguments: ["-c", Self.script],
                input: .fileDescriptor(commands.readEnd, closeAfterSpawningProcess: true),
                output: .fileDescriptor(lines.writeEnd, closeAfterSpawningProcess: true),
                error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
            )
        }
        folder = try Self.line(output)
    }

    deinit {
        try? input.close()
        try? output.close()
    }

    package func address(_ database: String = "postgres") -> String {
        "postgresql://larder@/\(database)?host=\(folder)"
    }

    /// Creates a schema, and returns its name.
    package func schema() throws -> String { try create("schema") }

    /// Creates a database, for programs that listen, and returns its address.
    package func database() throws -> String { address(try create("database")) }

    private func create(_ kind: String) throws -> String {
        let name = numbers.withLock { number in
            number += 1
            return "test_\(number)"
        }
        try command("\(kind) \(name)")
        return name
    }

    /// Ends the server.
    ///
    /// - Parameter mode: `fast` rolls back open transactions; `immediate` is like a crash.
    package func stop(_ mode: String = "fast") throws { try command("stop \(mode)") }

    /// Starts the server again after ``stop(_:)``.
    package func restart() throws { try command("start") }

    /// Runs a statement with psql, and returns the selected rows: a row a line, columns between `|`.
    @discardableResult
    package static func sql(_ statement: String, at address: String) async throws -> String {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", statement]
        return try await RunningProcess.output(of: "psql", arguments).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func command(_ text: String) throws {
        try turn.withLock { _ in
            try input.writeAll("\(text)\n".utf8)
            let line = try Self.line(output)
            guard line == "done" else { throw Failure(description: "\(text): \(line)") }
        }
    }

    /// Reads a line, byte by byte: nothing of the next one is taken.
    private static func line(_ output: FileDescriptor) throws -> String {
        var (line, byte): ([UInt8], [UInt8]) = ([], [0])
        while try byte.withUnsafeMutableBytes({ try output.read(into: $0) }) == 1, byte[0] != UInt8(ascii: "\n") {
            line += byte
        }
        let text = String(decoding: line, as: UTF8.self)
        guard !text.isEmpty, text != "failed" else { throw Failure(description: "PostgreSQL did not start: \(text)") }
        return text
    }
}
