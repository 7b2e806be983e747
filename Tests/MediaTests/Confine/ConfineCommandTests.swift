import Foundation
import TestKit
import Testing

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
