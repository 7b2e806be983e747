import ArgumentParser

/// `larder settings`: lists all settings.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "List all settings with their defaults.",
        discussion: """
            EXAMPLES
              larder settings
              larder settings --markdown > docs/configuration.md
            """
    )

    @Flag(name: .long, help: "Print the reference page in Markdown.")
    var markdown = false

    func run() {
        StandardOutput.write(markdown ? SettingsPage().markdown() : SettingsOptions.table + "\n")
    }
}
