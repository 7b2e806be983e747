import ArgumentParser

/// `larder store`: the data that several servers share.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Copy what users made to a store that several servers share.",
        subcommands: [StoreCopyCommand.self]
    )
}
