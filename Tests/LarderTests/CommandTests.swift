import ArgumentParser
import Cluster
import Foundation
import Storage
import TestKit
import Testing

@testable import Larder
@testable import Screens

@Suite struct CommandNamesTests {
    @Test(
        "SRV-13 for a word in place of a command the likely command is suggested",
        arguments: [
            ("SERVE", "there is no command larder SERVE; did you mean larder serve?"),
            ("version", "there is no command larder version; did you mean larder --version?"),
            ("help serv", "there is no command larder serv; did you mean larder serve?"),
            ("--sandbox", "a command comes before --sandbox, such as larder serve --sandbox"),
            ("--http-port=1", "a command comes before --http-port=1, such as larder serve --http-port=1"),
            ("--hlep", "a command comes before --hlep, or did you mean larder --help?"),
            ("-v", "a command comes before -v, such as larder serve -v"),
        ]
    )
    func faults(line: String, expected: String) {
        let arguments = line.split(separator: " ").map(String.init)
        #expect(CommandNames.fault(in: arguments, of: LarderCommand.self) == expected)
    }

    @Test(
        "What is a command, or needs none, is left to its parser",
        arguments: ["", "help", "help cache purge", "-h", "--help", "--version", "cache list --nope", "serve serv"]
    )
    func known(line: String) {
        #expect(CommandNames.fault(in: line.split(separator: " ").map(String.init), of: LarderCommand.self) == nil)
    }
}

@Suite struct CommandFlagsTests {
    /// Takes swift-argument-parser seconds in a debug build.
    private static let program = Result { try CommandDescription.of(LarderCommand.self) }

    @Test(
        "SRV-13 a flag that the command does not have is one of another command, or its nearest name is suggested",
        arguments: [
            ("doctor --sandbox", "--sandbox; did you mean larder serve --sandbox or larder backup --sandbox?"),
            ("cache list --harness", "there is no setting --harness; did you mean larder serve --harness?"),
            ("doctor --stop-with-stdin=x", "did you mean larder serve --stop-with-stdin?"),
            ("serve --junit", "there is no setting --junit; did you mean larder scenario run --junit?"),
            ("doctor --sandbx", "there is no setting --sandbx; larder settings lists all"),
            ("serve --port", "there is no setting --port; did you mean --http-port or --sandbox-port?"),
            ("serve --sandbx", "there is no setting --sandbx; did you mean --sandbox?"),
            ("serve --markdown", "did you mean larder sandbox --markdown or larder settings --markdown?"),
            ("doctor --confg", "did you mean --config?"),
        ]
    )
    func suggestions(line: String, expected: String) throws {
        let arguments = line.split(separator: " ").map(String.init)
        let commands = CommandFlags(arguments, of: try Self.program.get())
        let settings = arguments.filter { $0.hasPrefix("--") }
        #expect {
            try SettingsReader(arguments: settings, environment: [:], file: nil, commandFlags: { commands })
        } throws: { error in
            "\(error)".hasSuffix(expected)
        }
    }
}

struct DevicesCommandTests {
    @Test("SRV-17 the list has aligned columns, whatever the names are")
    func listing() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let devices = [("a1", "Anna's phone", "anna"), ("b22", "планшет", "local")].map { id, name, profile in
            Device(id: id, name: name, profile: profile, pairedAt: now - 90_000, lastSeenAt: now - 60)
        }
        let lines = DeviceListing.text(devices, now: now).split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasPrefix("ID   PROFILE  PAIRED  SEEN"))
        #expect(lines[1].hasPrefix("a1   anna     ") && lines[1].hasSuffix("  Anna's phone"))
        #expect(lines[2].hasPrefix("b22  local    ") && lines[2].hasSuffix("  планшет"))
    }
}

@Suite struct ManualPageTests {
    private func pages() throws -> [String: String] {
        let pages = try CommandDescription.of(LarderCommand.self).all.map { ManualPage(command: $0, version: "1.2.3") }
        return Dictionary(uniqueKeysWithValues: pages.map { ($0.name, $0.text) })
    }

    /// The names of a command and of all below it.
    private func names(_ command: any ParsableCommand.Type, after path: [String] = []) -> [String] {
        let path = path + [command.configuration.commandName ?? ""]
        return [path.joined(separator: "-")] + command.configuration.subcommands.flatMap { names($0, after: path) }
    }

    @Test("SRV-16 every command has a manual page, with its summary and all its options")
    func complete() throws {
        let pages = try pages()
        #expect(Set(pages.keys) == Set(names(LarderCommand.self)).subtracting(["larder-manual"]))
        for (name, text) in pages {
            #expect(text.hasPrefix(".TH \"\(name.uppercased())\" 1 \"\" \"larder 1.2.3\""), "\(name)")
            for section in ["NAME", "SYNOPSIS", "OPTIONS"] { #expect(text.contains("\n.SH \(section)\n"), "\(name)") }
        }
        let purge = try #require(pages["larder-cache-purge"])
        for option in ["upstream", "prefix", "older\\-than", "all", "dry\\-run", "sandbox", "config"] {
            #expect(purge.contains("\n\\fB\\-\\-\(option)\\fR"), "\(option)")
        }
        let serve = try #require(pages["larder-serve"])
        for setting in SettingCatalogue(.standard).all {
            #expect(serve.contains(".TP\n\\fB\(Roff.escape(setting.flag))\\fR\n"), "\(setting.flag)")
        }
    }

    @Test("SRV-16 no line of a help is broken again by a terminal of 80 columns")
    func columns() throws {
        for command in try CommandDescription.of(LarderCommand.self).all {
            for line in (command.discussion ?? "").split(separator: "\n") {
                // A default value that is longer has no space to be broken at.
                let isOneWord = !line.drop { $0 == " " }.contains(" ")
                #expect(line.count < 80 || isOneWord, "\(command.commandName): \(line)")
            }
        }
    }

    @Test("SRV-16 text of a help has no requests or escapes of roff of its own")
    func escaped() {
        let lines = Roff.lines(of: ".exit and C:\\n\n\nEXAMPLES\n  'a -b\n  .so x\nEnd")
        #expect(lines == ["\\&.exit and C:\\en", ".SH \"EXAMPLES\"", ".nf", "\\&'a \\-b", "\\&.so x", ".fi", "End"])
    }
}

@Suite struct ProgressBarTests {
    private func shown(isTerminal: Bool) -> [String] {
        var texts: [String] = []
        let bar = ProgressBar(isTerminal: isTerminal) { texts.append($0) }
        for part in 0...1000 { bar.show("copying files", part * 1024, of: 1000 * 1024) }
        bar.show("checking the database", 0, of: 0)
        bar.end()
        return texts
    }

    @Test("SRV-16 A terminal has one line that is written over, at most once for each percent, and removed at the end")
    func terminal() {
        let texts = shown(isTerminal: true)
        #expect(texts.count == 103 && texts.allSatisfy { !$0.contains("\n") && $0.hasPrefix("\r") })
        #expect(texts[50] == "\rcopying files          [###############---------------]  50 % of 1000.0 KiB\u{1B}[K")
        #expect(texts.suffix(2) == ["\rchecking the database …\u{1B}[K", "\r\u{1B}[K"])
    }

    @Test("SRV-16 Elsewhere nothing is shown")
    func plain() {
        #expect(shown(isTerminal: false).isEmpty)
    }

    @Test("No line is wider than a terminal of 80 columns")
    func width() {
        let line = ProgressBar.bar("checking the database", 999 << 40, of: 999 << 40)
        #expect(line.count < 80 && line.contains("100 % of 999.0 TiB"))
    }

    @Test("The directory may be before, between and after settings; values of settings are not taken for it")
    func operands() {
        for arguments in [
            ["/b", "--http-port", "1", "--data-directory=/d"], ["--http-port", "1", "/b", "--data-directory=/d"],
            ["--http-port", "1", "--data-directory=/d", "/b"],
        ] {
            var options = SettingsOptions()
            options.settings = arguments
            #expect(options.takeOperands() == ["/b"])
            #expect(options.settings == ["--http-port", "1", "--data-directory=/d"])
        }
    }
}

@Suite struct DoctorTests {
    @Test("C15 A full disk, or an exhausted quota, is named; all else is looked at", arguments: [true, false])
    func fullDisk(isQuota: Bool) async throws {
        let (data, apps) = (try TemporaryFolder(), AppList.standard)
        try LarderDatabase(in: DataDirectory(at: data.url), migrations: apps.migrations, logger: .quiet).close()
        func findings() -> [Check] {
            DataCheck.findings(at: data.url, apps: apps, readsFiles: true, progress: { _ in })
        }
        // Others use the disk as well: the number is not the same the next time.
        func others(_ findings: [Check]) -> [Check] { findings.filter { $0.subject != "space" } }
        let before = findings()
        #expect(before.allSatisfy { $0.verdict == .well }, "\(before)")
        let shown = before.first { $0.subject == "space" }?.detail ?? ""
        #expect(shown.contains(/^[1-9]\d* MiB are free$/), "\(before)")
        let scope = try FaultScope(data.path)
        let (found, _) = await scope.failing(isQuota ? .quota : .fullDisk, at: 1) { findings() }
        let space = try #require(found.first { $0.subject == "space" })
        #expect(space.verdict == .degraded && space.detail.contains("is full"), "\(found)")
        #expect(others(found) == others(before), "\(found)")
        // Beside a running server, too.
        let lock = try DataDirectory(at: data.url)
        let beside = await scope.failing(isQuota ? .quota : .fullDisk, at: 1) { findings() }.value
        #expect(beside.map(\.subject) == ["data directory", "space"] && beside[1].verdict == .degraded, "\(beside)")
        withExtendedLifetime(lock) {}
        #expect(try !FileManager.default.contentsOfDirectory(atPath: data.path).contains { $0.contains("probe") })
    }

    @Test("C15 A port on which another program listens is named; that of a running server is well")
    func address() async throws {
        let other = try await RawServer { _ in nil }
        func finding(_ port: Int, isServed: Bool) async throws -> Check {
            let reader = try SettingsReader(arguments: ["--http-port", "\(port)"], environment: [:], file: nil)
            let configuration = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"])
            return await AddressCheck.finding(configuration, isServed: isServed)
        }
        let taken = try await finding(other.port, isServed: false)
        #expect(taken.verdict == .degraded && taken.detail.contains("\(other.port): another program listens there"))
        #expect(try await finding(other.port, isServed: true).verdict == .well)
        try await other.close()
        #expect(try await finding(0, isServed: false).verdict == .well)
    }

    @Test("C15 SCALE-22 A clock that differs from PostgreSQL's by more than half a minute is named, with the side")
    func clock() async throws {
        let server = try await RunningPostgres.shared.value
        let url = "\(server.address())&options=-csearch_path%3D\(try server.schema())"
        let arguments = ["--node-apps", "notes", "--store-url", url, "--store-timeout-ms", "60000"]
        let reader = try SettingsReader(arguments: arguments, environment: [:], file: nil)
        let configuration = try LarderConfiguration(reader, environment: ["HOME": "/home/someone"])
        let store = try #require(configuration.store)
        func finding(_ offset: TimeInterval) async -> Check {
            await StoreCheck.finding(store, configuration.apps, now: Date().addingTimeInterval(offset))
        }
        let right = await finding(0)
        #expect(right.verdict == .well && right.detail.contains("larder serve will add tables"), "\(right)")
        let (ahead, behind) = (await finding(400 * 86_400), await finding(-3600))
        #expect(ahead.verdict == .degraded && behind.verdict == .degraded)
        #expect(ahead.detail.contains(#/clock is 345[56]\d{4} s ahead of its clock$/#), "\(ahead)")
        #expect(behind.detail.contains(#/clock is 3[56]\d\d s behind its clock$/#), "\(behind)")
    }
}
