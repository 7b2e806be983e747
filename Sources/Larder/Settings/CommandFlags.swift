/// The flags of commands, which are no settings: `--sandbox` of `larder serve`, `--junit` of `larder scenario run`.
struct CommandFlags: Sendable {
    /// Those of the command that runs.
    let own: [String]
    /// The commands that have a flag, by its name: `larder serve --sandbox`.
    let commands: [String: [String]]

    /// Returns at most two command lines with a flag that the running command does not have; nothing if no command has
    /// it.
    func elsewhere(_ flag: String) -> [String] {
        own.contains(flag) ? [] : Array((commands[flag] ?? []).prefix(2))
    }
}
