import ArgumentParser
import Foundation
import Logging
import Screens
import Storage

/// `larder key`: operations on the key of the secrets.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Change the key that seals tokens of upstreams.",
        subcommands: [RotateKeyCommand.self]
    )
}

/// `larder key rotate`.
struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Seal all secrets with a new key, and remove the old one.",
        discussion: """
            A server that uses the data directory has to be stopped first. If the command
            is interrupted, the directory has the key that fits, and the command can be
            run again. Backups keep the key that they were made with.

            EXAMPLES
              larder key rotate --data-directory ./data
            """
    )

    @OptionGroup var options: DataOptions

    func run() async throws {
        let configuration = try options.load()
        try await StartError.reporting {
            try configuration.requireDatabase()
            let database = try configuration.openDatabase(label: "key")
            try SealedSecrets(database).rotateKey()
            try database.close()
            StandardOutput.write("the secrets in \(configuration.dataDirectory.path) are sealed with a new key\n")
        }
    }
}

extension LarderConfiguration {
    /// Opens the database for a command that needs exclusive access to the data directory. Logs warnings only.
    func openDatabase(label: String) throws -> LarderDatabase {
        let format = settings[ServerSettings.logFormat]
        let quiet = Logger(label: label) { LarderLogHandler(label: $0, format: format, level: .warning) }
        return try LarderDatabase(
            in: DataDirectory(at: dataDirectory),
            migrations: apps.migrations,
            logger: quiet
        )
    }
}
