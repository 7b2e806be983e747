import ArgumentParser
import Screens

/// The names of commands at the beginning of a command line.
enum CommandNames {
    /// Returns what is wrong with an argument that has the place of a command and is none; nil if all are commands.
    static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        if let first = arguments.first, first.hasPrefix("-") { return faultOfOption(first, before: root) }
        var (command, path) = (root, root.name)
        for argument in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let known = command.configuration.subcommands
            guard !known.isEmpty, !argument.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { $0.name == argument }) else {
                return text(argument, after: path, known.map { $0.name })
            }
            (command, path) = (next, "\(path) \(argument)")
        }
        return nil
    }

    /// Options that need no command.
    private static let options = ["--help", "--version", "--generate-completion-script"]

    /// Returns what is wrong with an option that comes before all commands; nil for those that need none.
    private static func faultOfOption(_ option: String, before root: any ParsableCommand.Type) -> String? {
        let name = String(option.prefix { $0 != "=" })
        guard name != "-h", !options.contains(name), !name.hasPrefix("--experimental") else { return nil }
        let similar = NameSuggestions(for: name, among: options).names.map { "\(root.name) \($0)" }
        let hint = similar.isEmpty ? "such as \(root.name) serve \(option)" : "or did you mean \(similar[0])?"
        return "a command comes before \(option), \(hint)"
    }

    private static func text(_ argument: String, after path: String, _ known: [String]) -> String {
        var similar = NameSuggestions(for: argument, among: known).names.map { "\(path) \($0)" }
        if options.contains("--\(argument)") { similar = ["\(path) --\(argument)"] }
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
