import ArgumentParser
import Cluster
import Foundation
import Storage

/// `larder backup`: copies a data directory, also while a server uses it.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the data to a new directory, also while a server uses them.",
        usage: "larder backup TARGET [--sandbox] [--config <file>] [<settings> ...]",
        discussion: """
            TARGET is a path that does not exist, or an empty directory. It appears when
            the backup is complete; until then the backup is in TARGET.partial, which the
            next backup to the same target replaces.
            With store.url it has the data of users in that PostgreSQL, as a directory of
            a server by itself: bring it back with larder store copy. They are in
            TARGET.rows meanwhile, which the next backup to the same target replaces.
            The backup has the database, the key and all files, and what is cached. Files
            are shared with the data directory by links if both are on one file system,
            otherwise copied. SHA256SUMS has the digest of each file; sha256sum -c checks
            them.

            Exit code 0: complete. 1: there is no backup. 2: complete, but for files that
            the data directory has lost.

            EXAMPLES
              larder backup /backups/larder-$(date +%F)
              larder backup /backups/monday --data-directory ./data
            """
    )

    @OptionGroup var options: DataOptions

    func run() async throws {
        let (configuration, target) = try options.load(of: "backup TARGET")
        let origin = "larder \(LarderVersion.text), \(configuration.now.formatted(.iso8601))"
        let bar = ProgressBar()
        try await StartError.reporting {
            defer { bar.end() }
            var rows: StoreRows?
            if let store = configuration.store { rows = try await StoreRows(store, configuration.apps, beside: target) }
            defer { rows?.remove() }
            let report = try Backup(
                of: rows?.directory ?? configuration.dataDirectory,
                migrations: configuration.apps.migrations,
                origin: origin,
                progress: bar.show(_:)
            ).write(to: target)
            bar.end()
            let (files, size) = (HumanReadable.count(report.files, "file"), HumanReadable.bytes(report.bytes))
            StandardOutput.write("\(report.path): the database and \(files), \(size)\n")
            guard let faults = report.faults else { return }
            throw ExitCode.reporting(
                "the data directory has lost files, which the backup lacks: \(faults)",
                ExitCode(2)
            )
        }
    }
}

/// The users' data of several servers, in a temporary data directory beside a backup, which links its files.
private struct StoreRows {
    /// Largest duration of a copy.
    private static let timeout = Duration.seconds(86_400)

    let directory: URL

    /// Copies the rows in one transaction, while the servers run.
    ///
    /// - Throws: `ClusterError`, `StorageError`, errors of ``StoreCopy``.
    init(_ store: StoreConfiguration, _ apps: AppList, beside target: URL) async throws {
        let path = try BackupTarget.check(target)
        directory = URL(filePath: path + ".rows", directoryHint: .isDirectory)
        try Self.clear(directory, of: path)
        var options = store.options
        (options.name, options.connections) = ("larder-backup", 1)
        let asked = PostgresDatabase(options, logger: .silent)
        defer { asked.close() }
        guard try await asked.missing(of: apps.sharedMigrations).isEmpty else {
            throw ClusterError.serverUnusable("the database lacks tables of this build; start a server first")
        }
        options.timeout = Self.timeout
        let shared = PostgresDatabase(options, logger: .silent)
        defer { shared.close() }
        do {
            let local = try LarderDatabase(
                in: DataDirectory(at: directory),
                migrations: apps.migrations,
                logger: .silent
            )
            try await StoreCopy(apps, local: local, shared: shared, seal: store.seal()).runBesideServers()
            try local.close()
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the directory of a backup that was killed. The directory of a running backup is locked.
    private static func clear(_ directory: URL, of target: String) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: directory.path) else { return }
        let names = try files.contentsOfDirectory(atPath: directory.path)
        guard names.isEmpty || names.contains(DataDirectory.lockName) else {
            throw BackupError.targetUnsuitable(path: target, reason: "\(directory.path) is in the way")
        }
        do {
            try DataDirectory(at: directory).remove()
        } catch StorageError.directoryInUse(_, let pid) {
            throw BackupError.targetInUse(path: target, pid: pid)
        }
    }

    /// Removes the directory, which is a copy.
    func remove() { try? FileManager.default.removeItem(at: directory) }
}

/// `larder restore`: puts a backup into an empty data directory.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup into an empty data directory.",
        usage: "larder restore SOURCE [--sandbox] [--config <file>] [<settings> ...]",
        discussion: """
            SOURCE is a directory that larder backup has made. Its files are compared with
            their digests, and the database with the files, before anything gets its
            place. A data directory that has files or is in use is refused.
            Run it as the user of the server: the files belong to the user who restores
            them.

            EXAMPLES
              larder restore /backups/monday
              larder restore /backups/monday --data-directory ./data
            """
    )

    @OptionGroup var options: DataOptions

    func run() async throws {
        let (configuration, source) = try options.load(of: "restore SOURCE")
        let bar = ProgressBar()
        try await StartError.reporting {
            defer { bar.end() }
            let report = try Restore(of: source, migrations: configuration.apps.migrations, progress: bar.show(_:))
                .write(to: configuration.dataDirectory)
            bar.end()
            let files = HumanReadable.count(report.files, "file")
            let update = report.isCurrent ? "" : "; the next start of larder serve updates the database"
            StandardOutput.write(
                "\(configuration.dataDirectory.path): the database and \(files) of a backup by "
                    + "\(report.origin)\(update)\n"
            )
            if let faults = report.faults {
                StandardError.write("larder: files that were lost before the backup was made: \(faults)\n")
            }
        }
    }
}
