import AppInterface
import ArgumentParser
import Database
import Foundation
import Logging
import SharedStore

/// `larder store`: what several servers share.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Copy what users made to a store that several servers share.",
        discussion: """
            EXAMPLES
              larder store copy --from ./data --to postgresql://larder@127.0.0.1/larder
            """,
        subcommands: [StoreCopyCommand.self]
    )
}

/// `larder store copy`.
struct StoreCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy users' data from a data directory to PostgreSQL, or back.",
        discussion: """
            One of the two is a data directory, the other one an address postgresql://….
            Accounts, sessions and what users made with the apps that can share a store
            are copied, compared row by row, and kept if all are equal; what is cached is
            not copied. The source stays as it is. Refused if a server uses one of them,
            or if the target has users' data. Data of other apps stays where it is.

            Exit code 0: copied. 1: nothing was copied.

            EXAMPLES
              larder store copy --from ./data --to postgresql://larder@127.0.0.1/larder
              larder store copy --from postgresql://larder@127.0.0.1/larder --to ./new
            """
    )

    @Option(help: ArgumentHelp("Data directory or address that has the data.", valueName: "source"))
    var from: String

    @Option(help: ArgumentHelp("Data directory or address that gets it.", valueName: "target"))
    var to: String

    func run() async throws {
        let direction: StoreCopy.Direction
        let (folder, address): (String, String)
        switch (Self.isAddress(from), Self.isAddress(to)) {
        case (false, true): (direction, folder, address) = (.toShared, from, to)
        case (true, false): (direction, folder, address) = (.toLocal, to, from)
        default: throw ValidationError("one of --from and --to is a directory, the other one postgresql://…")
        }
        do {
            guard direction == .toLocal || FileManager.default.fileExists(atPath: folder) else {
                throw Self.failure("there is no data directory \(folder)")
            }
            try await copy(direction, folder, address)
        } catch let error as StorageError {
            throw Self.failure("\(error)")
        } catch let error as SharedStoreError {
            throw Self.failure("\(error)")
        } catch let error as StoreCopy.Refusal {
            throw Self.failure("\(error)")
        } catch let error as UserTable.Difference {
            throw Self.failure("\(error) Nothing was copied.")
        }
    }

    private func copy(_ direction: StoreCopy.Direction, _ folder: String, _ address: String) async throws {
        let logger = Logger(label: "store") { _ in SwiftLogNoOpLogHandler() }
        let all = AppList.standard
        let local = try LarderDatabase(
            in: try DataDirectory(at: URL(filePath: folder, directoryHint: .isDirectory)),
            migrations: all.migrations,
            logger: logger
        )
        var options = SharedDatabaseOptions(url: address)
        // Not the name of servers, which must not run.
        options.name = "larder-copy"
        let shared = SharedDatabase(options, logger: logger)
        defer { shared.close() }
        try await shared.migrate(all.sharedMigrations)
        let counts = try await StoreCopy(all, local: local, shared: shared).run(direction)
        try local.close()
        for (table, rows) in counts { StandardOutput.write("\(table): \(rows)\n") }
        let others = all.types.filter { $0.userTables.isEmpty }.map { $0.name }
        guard !others.isEmpty else { return }
        StandardOutput.write("not copied: \(others.joined(separator: ", ")), whose data stays where it is\n")
    }

    private static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    private static func failure(_ text: String) -> ExitCode {
        StandardError.write("larder: \(text)\n")
        return .failure
    }
}
