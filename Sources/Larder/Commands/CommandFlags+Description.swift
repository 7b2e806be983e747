extension CommandFlags {
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
