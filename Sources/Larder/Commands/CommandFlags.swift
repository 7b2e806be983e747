/// The flags of commands, which are no settings: `--sandbox` of `larder serve`, `--junit` of `larder scenario run`.
struct CommandFlags: Sendable {
    /// Those of the command that runs.
    let own: [String]
    /// The commands that have a flag, by its name: `larder serve --sandbox`.
    private let commands: [String: [String]]

    /// Reads those of a program.
    ///
    /// - Parameters:
    ///   - arguments: Of the process, which begin with the words of a command.
    ///   - program: What swift-argument-parser says of it.
    init(_ arguments: some Collection<String>, of program: CommandDescription) {
        var running = program
        for argument in arguments {
            guard let next = running.shown.first(where: { $0.commandName == argument }) else { break }
            running = next
        }
        own = running.flags
        var commands: [String: [String]] = [:]
        for command in program.all {
            let words = command.words.joined(separator: " ")
            for flag in command.flags { commands[flag, default: []].append("\(words) \(flag)") }
        }
        self.commands = commands
    }

    /// Returns at most two command lines with a flag that the running command does not have; nothing if no command has
    /// it.
    func elsewhere(_ flag: String) -> [String] {
        own.contains(flag) ? [] : Array((commands[flag] ?? []).prefix(2))
    }
}

extension CommandDescription {
    fileprivate var flags: [String] {
        (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map { "--\($0.name)" }
    }
}
