import ArgumentParser
import Screens

/// The names of commands at the beginning of a command line.
enum CommandNames {
    /// Returns what is wrong with an argument that has the place of a command and is none; nil if all are commands.
    static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var (command, path) = (root, root.name)
        for argument in arguments {
            let known = command.configuration.subcommands
            guard !known.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            guard let next = known.first(where: { $0.name == argument }) else {
                return text(argument, after: path, known.map { $0.name })
            }
            (command, path) = (next, "\(path) \(argument)")
        }
        return nil
    }

    private static func text(_ argument: String, after path: String, _ known: [String]) -> String {
        let similar = NameSuggestions(for: argument, among: known).names.map { "\(path) \($0)" }
        let hint =
            similar.isEmpty
            ? "there are \(known.joined(separator: ", "))" : "did you mean \(similar.joined(separator: " or "))?"
        return "there is no command \(path) \(argument); \(hint)"
    }
}

extension ParsableCommand {
    /// The word that a command is called by.
    static var name: String { configuration.commandName ?? "" }
}
