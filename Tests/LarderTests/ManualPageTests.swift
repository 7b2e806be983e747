import ArgumentParser
import Testing

@testable import Larder

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
        #expect(
            lines == [
                "\\&.exit and C:\\en", ".SH \"EXAMPLES\"", ".nf", "\\&'a \\-b", "\\&.so x", ".fi", "End",
            ]
        )
    }
}
