import ArgumentParser
import Foundation

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

    /// The words that call it: `larder`, `cache`, `list`.
    var words: [String] { (superCommands ?? []) + [commandName] }

    /// The commands below it that are shown, without that of the help.
    var shown: [CommandDescription] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// It, and all that are shown below it.
    var all: [CommandDescription] { [self] + shown.flatMap(\.all) }

    /// Reads the description of a program.
    /// - Throws: `DecodingError` if it has another form than expected.
    static func of(_ program: any ParsableCommand.Type) throws -> CommandDescription {
        struct Dump: Decodable {
            let command: CommandDescription
        }
        return try JSONDecoder().decode(Dump.self, from: Data(program._dumpHelp().utf8)).command
    }
}
