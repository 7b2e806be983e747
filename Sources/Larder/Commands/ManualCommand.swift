import ArgumentParser
import Foundation

/// `larder manual`: writes the manual pages. It is for packagers, so the help does not list it.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the manual pages of all commands to a directory.",
        shouldDisplay: false
    )

    @Argument(help: ArgumentHelp("A directory, which is made if it is missing.", valueName: "directory"))
    var directory: String

    func run() throws {
        let folder = URL(filePath: directory, directoryHint: .isDirectory)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for command in try CommandDescription.of(LarderCommand.self).all {
                let page = ManualPage(command: command, version: LarderVersion.text)
                try Data(page.text.utf8).write(to: folder.appending(path: "\(page.name).1"))
            }
        } catch let error as CocoaError {
            throw ExitCode.reporting(error.localizedDescription)
        }
    }
}

/// The manual page of a command, in section 1, with the macros of man(7).
struct ManualPage {
    let command: CommandDescription
    let version: String

    /// The name of the page, such as `larder-cache-list`.
    var name: String { command.words.joined(separator: "-") }

    var text: String {
        var lines = [".TH \"\(name.uppercased())\" 1 \"\" \"larder \(version)\" \"Larder\"", ".SH NAME"]
        let summary = command.abstract.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? ""
        lines += [Roff.escape("\(name) - \(summary)"), ".SH SYNOPSIS", synopsis]
        if let discussion = command.discussion, !discussion.isEmpty {
            // A page has room for all settings.
            let body = Roff.lines(of: discussion.replacing(SettingsOptions.help, with: SettingsOptions.table))
            lines += (body.first?.hasPrefix(".SH") == true ? [] : [".SH DESCRIPTION"]) + body
        }
        if !command.shown.isEmpty {
            lines.append(".SH COMMANDS")
            for child in command.shown {
                let page = Roff.escape(child.words.joined(separator: "-"))
                lines += [".TP", "\\fB\(page)\\fR(1)", Roff.escape(child.abstract ?? "")]
            }
        }
        lines += options
        if let parent = command.superCommands, !parent.isEmpty {
            lines += [".SH SEE ALSO", "\\fB\(Roff.escape(parent.joined(separator: "-")))\\fR(1)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var arguments: [CommandDescription.Argument] { (command.arguments ?? []).filter(\.shouldDisplay) }

    private var synopsis: String {
        let words = "\\fB\(Roff.escape(command.words.joined(separator: " ")))\\fR"
        let parts = arguments.filter { !Self.isCommon($0) }.map { argument in
            let spelling = Self.spelling(argument)
            return argument.isOptional ? "[\(spelling)]" : spelling
        }
        return ([words] + (command.shown.isEmpty ? [] : ["\\fIcommand\\fR"]) + parts).joined(separator: " ")
    }

    private var options: [String] {
        [".SH OPTIONS"]
            + arguments.flatMap { argument in
                let standard = argument.defaultValue.map { " The default is \($0)." } ?? ""
                return [".TP", Self.spelling(argument), Roff.escape((argument.abstract ?? "") + standard)]
            }
    }

    private static func isCommon(_ argument: CommandDescription.Argument) -> Bool {
        argument.names?.contains { ["help", "version"].contains($0.name) } ?? false
    }

    private static func spelling(_ argument: CommandDescription.Argument) -> String {
        let value = "\\fI\(Roff.escape(argument.valueName ?? "value"))\\fR"
        guard let names = argument.names else { return "\(value) ..." }
        let spelled = names.map { "\\fB\(Roff.escape(($0.kind == "short" ? "-" : "--") + $0.name))\\fR" }
        return spelled.joined(separator: ", ") + (argument.kind == "option" ? " \(value)" : "")
    }
}

/// Text of a command's help as requests and text lines of roff.
enum Roff {
    /// Returns text without requests and escapes, in which a hyphen can be copied to a command line.
    static func escape(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }

    /// Returns the lines of a discussion. A title begins a section. Lines that are indented by two spaces are shown
    /// verbatim; if a line that is indented more follows, the first line is its tag.
    static func lines(of discussion: String) -> [String] {
        let source = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var (lines, isVerbatim) = ([String](), false)
        func verbatim(_ wanted: Bool) {
            if wanted != isVerbatim { lines.append(wanted ? ".nf" : ".fi") }
            isVerbatim = wanted
        }
        for (index, line) in source.enumerated() {
            let text = line.drop { $0 == " " }
            let (indent, next) = (line.count - text.count, index + 1 < source.count ? source[index + 1] : "")
            if text.isEmpty {
                verbatim(false)
                lines.append(".PP")
            } else if indent == 0, isHeading(line) {
                verbatim(false)
                if lines.last == ".PP" { lines.removeLast() }
                lines.append(".SH \"\(escape(line))\"")
            } else if indent >= 6 {
                lines.append(escape(String(text)))
            } else if indent > 0, next.hasPrefix("      ") {
                verbatim(false)
                lines += [".TP", "\\fB\(escape(String(text)))\\fR"]
            } else {
                verbatim(indent > 0)
                lines.append(escape(String(text)))
            }
        }
        verbatim(false)
        return lines
    }

    /// Whether a line is the title of a part of the help.
    private static func isHeading(_ line: String) -> Bool { line == "EXAMPLES" || line.hasPrefix("SETTINGS,") }
}

/// A command as swift-argument-parser describes it (`--experimental-dump-help`).
struct CommandDescription: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let abstract: String?
        let kind: String
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let isOptional: Bool
        let shouldDisplay: Bool
    }

    let commandName: String
    let superCommands: [String]?
    let abstract: String?
    let discussion: String?
    let arguments: [Argument]?
    let subcommands: [CommandDescription]?
    let shouldDisplay: Bool

    /// The words of the command line: `larder`, `cache`, `list`.
    var words: [String] { (superCommands ?? []) + [commandName] }

    /// The subcommands that are shown, without `help`.
    var shown: [CommandDescription] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// The command and all shown commands below it.
    var all: [CommandDescription] { [self] + shown.flatMap(\.all) }

    /// Reads the description of a program.
    /// - Throws: `DecodingError` if the description has an unexpected form.
    static func of(_ program: any ParsableCommand.Type) throws -> CommandDescription {
        struct Dump: Decodable {
            let command: CommandDescription
        }
        return try JSONDecoder().decode(Dump.self, from: Data(program._dumpHelp().utf8)).command
    }
}

extension CommandFlags {
    /// - Parameters:
    ///   - arguments: The arguments of the process, which begin with the words of a command.
    ///   - program: The program's description by swift-argument-parser.
    init(_ arguments: some Collection<String>, of program: CommandDescription) {
        var running = program
        for argument in arguments {
            guard let next = running.shown.first(where: { $0.commandName == argument }) else { break }
            running = next
        }
        var commands: [String: [String]] = [:]
        for command in program.all {
            let words = command.words.joined(separator: " ")
            for flag in command.flags { commands[flag, default: []].append("\(words) \(flag)") }
        }
        self.init(own: running.flags, commands: commands)
    }
}

extension CommandDescription {
    fileprivate var flags: [String] {
        (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map { "--\($0.name)" }
    }
}
