import ArgumentParser
import Database
import Foundation
import ResponseStore

/// `larder cache`: lists, measures and purges what is cached.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List, measure and purge what is cached.",
        discussion: """
            Listing and measuring read only, also while a server uses the data directory.
            Purging needs the data directory for itself: stop the server first.

            EXAMPLES
              larder cache list --sort size
              larder cache size --data-directory ./data
              larder cache purge --older-than 7d --dry-run
              larder cache purge --upstream spacex --prefix /images/
            """,
        subcommands: [CacheListCommand.self, CacheSizeCommand.self, CachePurgeCommand.self],
        defaultSubcommand: CacheListCommand.self
    )
}

/// Options of all subcommands of `larder cache`.
struct CacheOptions: ParsableArguments {
    @Flag(name: .long, help: "Mean the data directory of larder serve --sandbox.")
    var sandbox = false

    @OptionGroup var settings: SettingsOptions

    func load() throws -> LarderConfiguration { try settings.load(sandbox: sandbox) }
}

extension LarderConfiguration {
    /// The current time of a command: the time that a server's clock would show at start.
    var now: Date { clockStart ?? Date() }

    /// Runs `body` on the cache, for reading. Ends the process with one line and exit code 1 if the data cannot be
    /// used.
    func inspectingCache(_ body: (CacheInspection) throws -> Void) throws {
        try Self.reportingStorageErrors {
            guard let inspection = try CacheInspection(at: dataDirectory) else {
                StandardOutput.write("nothing is cached: there is no database in \(dataDirectory.path)\n")
                return
            }
            try body(inspection)
        }
    }

    static func reportingStorageErrors(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as StorageError {
            StandardError.write("larder: \(error)\n")
            throw ExitCode.failure
        }
    }
}
