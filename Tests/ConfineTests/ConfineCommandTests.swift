import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConfineCommandTests {
    /// The executable, beside the test bundle.
    private static let executable = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        .deletingLastPathComponent()
        .appending(path: "larder-confine").path

    /// Runs a script and returns its output.
    private func shell(_ script: String) throws -> String {
        let stream = try #require(popen(script, "r"))
        var text = ""
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), stream) != nil {
            text += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        pclose(stream)
        return text
    }

    @Test("It becomes the program, with its arguments and exit code")
    func becomes() throws {
        #expect(
            try shell("'\(Self.executable)' --folder /tmp -- /bin/sh -c 'echo \"$1\"; exit 3' sh 'a b'; echo $?")
                == "a b\n3\n"
        )
    }

    @Test("A failure has the exit codes of env(1) and starts nothing")
    func refusals() throws {
        #expect(
            try shell("'\(Self.executable)' --folder /tmp -- /nowhere 2>&1; echo $?")
                == "larder-confine: /nowhere: No such file or directory\n126\n"
        )
        let usage = try shell("'\(Self.executable)' --folder tmp -- /bin/echo started 2>&1; echo $?")
        #expect(
            usage.hasPrefix("larder-confine: usage: ") && usage.hasSuffix("\n125\n") && !usage.contains("started\n")
        )
    }

    @Test("It ends with its parent, however and however soon that ends", arguments: ["cat started; ", ""])
    func orphan(meanwhile: String) throws {
        let temporary = try TemporaryFolder()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.path
        let pid = try shell(
            """
            cd '\(folder)'; mkfifo started
            '\(Self.executable)' --parent $$ --folder '\(folder)' -- \\
                /bin/sh -c 'echo >started; exec sleep 1000' >/dev/null 2>&1 & echo $!
            \(meanwhile)kill -9 $$
            """
        ).split(separator: "\n")[0]
        while let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8), !stat.contains(") Z") {
            sched_yield()
        }
    }
}
