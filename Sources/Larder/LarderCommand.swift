import ArgumentParser
import Foundation

/// The program: `larder serve`, `larder sandbox`, `larder doctor`, `larder backup`, `larder restore`, `larder key`,
/// `larder certificate`, `larder cache`, `larder account`, `larder settings`.
@main
struct LarderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract:
            "A local backend for frontends: mobile apps as JSON over HTTP, cached in SQLite, truthful when offline.",
        discussion: """
            EXAMPLES
              larder serve                                    serve on http://127.0.0.1:8080 with the real upstreams
              larder serve --sandbox                          the same with simulated upstreams in the same process
              larder serve --http-port 0 --data-directory /tmp/larder
              LARDER_UPSTREAMS_SPACEX_URL=http://127.0.0.1:9000/spacex larder serve
              larder serve --config larder.yaml               settings from a file (YAML or JSON)
              larder sandbox --sandbox-port 9000              the simulated upstreams alone
              larder doctor                                   check database, data directory, libraries and upstreams
              larder backup /backups/monday                   copy the data, also while it is served
              larder certificate ./tls                        a certificate for HTTPS, by an authority of your own
              larder cache size                               how much is cached, of which budget
              larder account reset-password --user bob        set another password for an account
              larder settings                                 list all settings

            Command line beats environment beats file beats default.
            """,
        version: LarderVersion.text,
        subcommands: [
            ServeCommand.self, SandboxCommand.self, DoctorCommand.self, BackupCommand.self, RestoreCommand.self,
            KeyCommand.self, CertificateCommand.self, CacheCommand.self, AccountCommand.self, SettingsCommand.self,
            ManualCommand.self,
        ]
    )

    /// Runs the program. Files that it and its children create are accessible to their owner only.
    static func main() async {
        umask(0o077)
        OpenFileLimit.raise()
        LargeBlocks.giveBack()
        if let fault = CommandNames.fault(in: Array(CommandLine.arguments.dropFirst()), of: Self.self) {
            StandardError.write("larder: \(fault)\n")
            Self.exit(withError: ExitCode.validationFailure)
        }
        await main(nil)
    }
}
