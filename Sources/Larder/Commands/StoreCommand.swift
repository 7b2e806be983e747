import ArgumentParser
import Cluster
import Foundation
import Screens
import Storage

/// `larder store`: the data that several servers share.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Copy what users made to a store that several servers share.",
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
            Accounts, sessions and what users made are copied, all or nothing. What is
            cached is not copied, nor are paired devices: they stay in the data directory.
            Rows of the source stay as they are.
            Stop all servers first: a directory or a store that is in use is refused, and
            a target that has users' data. Tokens of the Disk are sealed anew with the key
            of the target: --store-key-file names what store.key_file does.

            If it fails or is interrupted, nothing was copied: run it again. Leave a
            password out of the address, since other users see command lines: libpq takes
            it from ~/.pgpass or PGPASSWORD.

            Exit code 0: copied. 1: nothing was copied, but for what the message says.

            EXAMPLES
              larder store copy --from ./data --to postgresql://larder@127.0.0.1/larder
              larder store copy --from postgresql://larder@127.0.0.1/larder \\
                --to ./new --store-key-file /etc/larder/store.key
            """
    )

    @Option(help: ArgumentHelp("Data directory or address that has the data.", valueName: "source"))
    var from: String

    @Option(help: ArgumentHelp("Data directory or address that gets it.", valueName: "target"))
    var to: String

    @Option(help: ArgumentHelp("File with the key of the store's secrets (store.key_file).", valueName: "file"))
    var storeKeyFile: String?

    func run() async throws {
        switch (Self.isAddress(from), Self.isAddress(to)) {
        case (false, true): try await copy(.toShared, URL(filePath: from, directoryHint: .isDirectory), to)
        case (true, false): try await copy(.toLocal, URL(filePath: to, directoryHint: .isDirectory), from)
        default: throw ValidationError("one of --from and --to is a directory, the other one postgresql://…")
        }
    }

    private func copy(_ direction: StoreCopy.Direction, _ folder: URL, _ address: String) async throws {
        // A mistyped directory must not be created.
        guard direction == .toLocal || CacheInspection.exists(at: folder) else {
            throw ExitCode.reporting("There is no database in \(folder.path).")
        }
        do {
            let counts = try await counts(direction, folder, address)
            for count in counts { StandardOutput.write("\(count.table): \(HumanReadable.count(count.rows, "row"))\n") }
            let others = AppList.standard.types.filter { $0.replicated == nil }.map { $0.name }
            let rest = (others.map { "accounts and files of \($0)" } + ["paired devices", "what is cached"])
            StandardOutput.write("copied; not copied: \(rest.joined(separator: ", "))\n")
        } catch ClusterError.outcomeUnknown {
            throw ExitCode.reporting(
                "\(ClusterError.outcomeUnknown) Run the command again: a target that is not empty has it all."
            )
        } catch {
            throw ExitCode.reporting("\(error) Nothing was copied.")
        }
    }

    private func counts(_ direction: StoreCopy.Direction, _ folder: URL, _ address: String) async throws
        -> [StoreCopy.Count]
    {
        var options = PostgresOptions(url: address)
        // Servers are counted by their application name, so the copy needs another one.
        options.name = "larder-copy"
        options.connections = 1
        // The commit writes everything, and may wait for a standby.
        options.timeout = .seconds(600)
        let seal = try storeKeyFile.map { ClusterSeal(key: try SealingKey.read(path: $0)) }
        let shared = PostgresDatabase(options, logger: .silent)
        defer { shared.close() }
        // The check is done before anything is created.
        try await StoreCopy.check(shared)
        let local = try LarderDatabase(
            in: try DataDirectory(at: folder),
            migrations: AppList.standard.migrations,
            logger: .silent
        )
        try await shared.migrate(AppList.standard.sharedMigrations)
        let copy = StoreCopy(.standard, local: local, shared: shared, seal: seal)
        let counts = try await copy.run(direction)
        try local.close()
        return counts
    }

    private static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }
}
