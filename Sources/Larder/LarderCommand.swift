import ArgumentParser
import Foundation

/// The program: `larder serve`, `larder sandbox`, `larder exec`, `larder scenario`, `larder doctor`, `larder backup`,
/// `larder restore`, `larder key`, `larder certificate`, `larder pair`, `larder devices`, `larder cache`,
/// `larder account`, `larder store`, `larder fixtures`, `larder settings`.
@main
struct LarderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "larder",
        abstract:
            "A local backend for frontends: mobile apps as JSON over HTTP, cached in SQLite, truthful when offline.",
        discussion: """
            EXAMPLES
              larder serve                        serve on http://127.0.0.1:8080
              larder serve --sandbox              with simulated upstreams
              larder serve --config larder.yaml   settings from YAML or JSON
              larder serve --http-port 0 --data-directory /tmp/larder
              LARDER_UPSTREAMS_SPACEX_URL=http://127.0.0.1:9000/spacex larder serve
              larder sandbox --sandbox-port 9000  the simulated upstreams alone
              larder exec -- pytest               a command with a server of its own
              larder scenario run outage.yaml     steps in a file, and what is expected
              larder doctor                       check this installation
              larder backup /backups/monday       copy the data of a running server
              larder certificate ./tls            make a certificate for HTTPS
              larder pair                         make a code that pairs a phone
              larder devices                      list the paired devices
              larder cache size                   measure what is cached
              larder account reset-password --user bob
              larder store copy --from ./data --to postgresql://larder@127.0.0.1/larder
              larder fixtures diff spacex         compare recordings with their API
              larder settings                     list all settings

            Command line beats environment beats file beats default.
            """,
        version: LarderVersion.text,
        subcommands: [
            ServeCommand.self, SandboxCommand.self, ExecCommand.self, ScenarioCommand.self, DoctorCommand.self,
            BackupCommand.self, RestoreCommand.self,
            KeyCommand.self, CertificateCommand.self, PairCommand.self, DevicesCommand.self, CacheCommand.self,
            AccountCommand.self, StoreCommand.self, FixturesCommand.self, SettingsCommand.self, ManualCommand.self,
        ]
    )

    /// Runs the program. Files that it and its children create are accessible to their owner only.
    static func main() async {
        umask(0o077)
        StandardStreams.openMissing()
        OpenFileLimit.raise()
        LargeBlocks.giveBack()
        var arguments = Array(CommandLine.arguments.dropFirst())
        if ExecCommand.isMeant(by: arguments) { arguments = ExecCommand.split(arguments).own }
        if let fault = CommandNames.fault(in: arguments, of: Self.self) {
            StandardError.write("larder: \(fault)\n")
            Self.exit(withError: ExitCode.validationFailure)
        }
        await main(arguments)
    }
}
