import ArgumentParser
import Backup
import Foundation

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

    @OptionGroup var options: CopyOptions

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
