import ArgumentParser
import Foundation
package import Screens

/// The program: `larder serve`, `larder sandbox`, `larder exec`, `larder scenario`, `larder gallery`, `larder doctor`,
/// `larder backup`, `larder restore`, `larder key`, `larder certificate`, `larder pair`, `larder devices`,
/// `larder cache`, `larder account`, `larder store`, `larder fixtures`, `larder settings`, `larder contract`.
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
              larder gallery ./gallery            every state of every screen as files
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
              larder contract                     print the OpenAPI document

            Command line beats environment beats file beats default.
            """,
        version: LarderVersion.text,
        subcommands: [
            ServeCommand.self, SandboxCommand.self, ExecCommand.self, ScenarioCommand.self, GalleryCommand.self,
            DoctorCommand.self, BackupCommand.self, RestoreCommand.self,
            KeyCommand.self, CertificateCommand.self, PairCommand.self, DevicesCommand.self, CacheCommand.self,
            AccountCommand.self, StoreCommand.self, FixturesCommand.self, SettingsCommand.self, ContractCommand.self,
            ManualCommand.self,
        ]
    )
}

/// The program: `larder`, or a program of your own that serves further apps (docs/your-own-app.md).
package enum LarderProgram {
    /// Runs the command in the arguments of the process. Files that it and its children create are accessible to their
    /// owner only.
    ///
    /// On the main actor, so that the standard streams are opened before libdispatch opens files of its own.
    ///
    /// - Parameter apps: Apps that are served in addition to those of Larder.
    @MainActor package static func main(serving apps: [any App.Type] = []) async {
        umask(0o077)
        StandardStreams.openMissing()
        await AppList.$standard.withValue(AppList(AppList.standard.types + apps)) { await run() }
    }

    private static func run() async {
        OpenFileLimit.raise()
        LargeBlocks.giveBack()
        var arguments = Array(CommandLine.arguments.dropFirst())
        if ExecCommand.isMeant(by: arguments) { arguments = ExecCommand.split(arguments).own }
        if let fault = CommandNames.fault(in: arguments, of: LarderCommand.self) {
            LarderCommand.exit(withError: ExitCode.reporting(fault, .validationFailure))
        }
        await LarderCommand.main(arguments)
    }
}

/// Checks the names of commands at the beginning of a command line.
enum CommandNames {
    /// Returns the error for an argument in the place of a command that is none; nil if all are commands.
    static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        if let first = arguments.first, first.hasPrefix("-") { return faultOfOption(first, before: root) }
        var (command, path) = (root, root.name)
        for argument in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let known = command.configuration.subcommands
            guard !known.isEmpty, !argument.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { $0.name == argument }) else {
                return text(argument, after: path, known.map { $0.name })
            }
            (command, path) = (next, "\(path) \(argument)")
        }
        return nil
    }

    /// Options that need no command.
    private static let options = ["--help", "--version", "--generate-completion-script"]

    /// Returns the error for an option that precedes all commands; nil for an option that needs none.
    private static func faultOfOption(_ option: String, before root: any ParsableCommand.Type) -> String? {
        let name = String(option.prefix { $0 != "=" })
        guard name != "-h", !options.contains(name), !name.hasPrefix("--experimental") else { return nil }
        let similar = NameSuggestions(for: name, among: options).names.map { "\(root.name) \($0)" }
        let hint = similar.isEmpty ? "such as \(root.name) serve \(option)" : "or did you mean \(similar[0])?"
        return "a command comes before \(option), \(hint)"
    }

    private static func text(_ argument: String, after path: String, _ known: [String]) -> String {
        var similar = NameSuggestions(for: argument, among: known).names.map { "\(path) \($0)" }
        if options.contains("--\(argument)") { similar = ["\(path) --\(argument)"] }
        let hint =
            similar.isEmpty
            ? "there are \(known.joined(separator: ", "))" : "did you mean \(similar.joined(separator: " or "))?"
        return "there is no command \(path) \(argument); \(hint)"
    }
}

extension ParsableCommand {
    /// The word of the command on a command line.
    static var name: String { configuration.commandName ?? "" }
}
