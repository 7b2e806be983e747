import ArgumentParser
import Cluster
import Foundation
import Sandbox
import Screens
import Server
import Storage

/// Options of every command: a configuration file, and any setting as a flag.
struct SettingsOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Read settings from a YAML or JSON file.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp("Any setting as a flag, such as --http-port 8081.", valueName: "settings"),
        completion: .list(Self.flags)
    )
    var settings: [String] = []

    private static let flags = SettingCatalogue(.standard).all.map(\.flag)

    /// Reads all settings of this process. If that fails, ends the process with exit code 78 (EX_CONFIG of sysexits.h)
    /// and one line.
    ///
    /// - Parameter fallbacks: Values, by key, for settings that are set nowhere.
    func load(
        sandbox: Bool = false,
        harness: Bool = false,
        fallbacks: [String: String] = [:]
    ) throws -> LarderConfiguration {
        let environment = ProcessInfo.processInfo.environment
        do throws(SettingError) {
            let reader = try SettingsReader(
                arguments: settings,
                environment: environment,
                file: config,
                commandFlags: Self.commandFlags
            )
            return try LarderConfiguration(
                reader.with(fallbacks: fallbacks),
                environment: environment,
                sandbox: sandbox,
                harness: harness
            )
        } catch {
            throw ExitCode.reporting("\(error)", .configuration)
        }
    }

    /// The flags of all commands; nil if swift-argument-parser does not provide them.
    private static func commandFlags() -> CommandFlags? {
        (try? CommandDescription.of(LarderCommand.self)).map { CommandFlags(CommandLine.arguments.dropFirst(), of: $0) }
    }

    /// Reads the settings of a server that stops with the command for which it was started.
    ///
    /// Upstreams are simulated. Unless they are set, the port is a free one and the data directory is temporary.
    /// Requests are not logged, because their lines would mix with those of the command. A shared store is refused,
    /// because the server is under test.
    ///
    /// - Parameter owner: A command whose server erases or shows everything, such as `a gallery`. It accepts no other
    ///   data directory. Nil for other commands.
    func loadTemporary(standardData folder: URL, alwaysFor owner: String? = nil) throws -> LarderConfiguration {
        let fallbacks = [
            HTTPSettings.port.key: "0", ServerSettings.dataDirectory.key: folder.path,
            ServerSettings.logLevel.key: "warning",
        ]
        var configuration = try load(sandbox: true, harness: true, fallbacks: fallbacks)
        configuration.isDurable = configuration.settings[ServerSettings.dataDirectory]?.path != folder.path
        if let owner, configuration.isDurable {
            let key = ServerSettings.dataDirectory.key
            throw ExitCode.reporting("\(owner) has data of its own: leave \(key) unset", .configuration)
        }
        return configuration
    }

    /// Removes the arguments that are neither a setting nor the value of one, wherever they are, and returns them.
    mutating func takeOperands() -> [String] {
        var (rest, operands, taken) = (settings[...], [String](), [String]())
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else {
                operands.append(argument)
                continue
            }
            taken.append(argument)
            if !argument.contains("="), let value = rest.popFirst() { taken.append(value) }
        }
        settings = taken
        return operands
    }

    static let table = text(
        "SETTINGS, each also as LARDER_… variable and in the configuration file",
        SettingCatalogue(.standard).all
    )

    /// The settings for the help of a command: the most important ones, or all for `--help all`. Made once, because the
    /// description of each command contains it, and each start reads several descriptions.
    static let help: String = {
        guard !CommandLine.arguments.joined(separator: " ").hasSuffix(" --help all") else { return table }
        let all = SettingCatalogue(.standard).all
        let groups = firstSettings.map { title, keys in
            text(title, keys.compactMap { key in all.first { $0.key == key } })
        }
        return groups.joined(separator: "\n\n") + "\n\n"
            + "Each is also a LARDER_… variable, and in the configuration file.\n"
            + "All \(all.count) settings: --help all"
    }()

    /// The keys of the most important settings.
    static let firstSettings = [
        ("ADDRESS AND ACCESS", ["http.host", "http.port", "http.access", "http.allowed_origins"]),
        ("HTTPS", ["http.tls_certificate", "http.tls_key", "http.public_url"]),
        ("DATA", ["data.directory", "store.url", "freshness.ships_s", "cache.budget_mb"]),
        (
            "UPSTREAMS, alike for catalogue, people, geocoder and yandex-disk",
            ["upstreams.spacex.url", "upstreams.spacex.mode", "upstreams.spacex.fixtures"]
        ),
        ("YANDEX DISK", ["disk.oauth_client_id", "disk.oauth_client_secret"]),
        ("TESTS", ["sandbox.port", "sandbox.seed", "clock.start"]),
        ("LOG", ["log.level", "log.format"]),
    ]

    private static func text(_ title: String, _ settings: [any SettingDeclaration]) -> String {
        let lines = settings.map { setting in
            let standard = setting.standard.map { $0.isEmpty ? "" : " [\($0)]" } ?? ""
            return "  \(setting.flag)\n" + indented(setting.summary + standard)
        }
        return ([title] + lines).joined(separator: "\n")
    }

    /// Returns lines of at most 80 columns, broken at spaces, so that a terminal of that width does not break them
    /// again.
    private static func indented(_ text: String) -> String {
        var lines = [String]()
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= 79 {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append("      \(word)")
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// Options of commands that work on a data directory.
struct DataOptions: ParsableArguments {
    @Flag(name: .long, help: "Mean the data directory of larder serve --sandbox.")
    var sandbox = false

    @OptionGroup var settings: SettingsOptions

    func load() throws -> LarderConfiguration { try settings.load(sandbox: sandbox) }

    /// Reads the settings, and another directory from the one argument that is no setting.
    ///
    /// - Parameter command: The command with the name of that argument.
    func load(of command: String) throws -> (LarderConfiguration, URL) {
        var settings = settings
        let operands = settings.takeOperands()
        let configuration = try settings.load(sandbox: sandbox)
        guard operands.count == 1, let path = operands.first, !path.isEmpty else {
            throw ExitCode.reporting("one directory is expected: larder \(command)", .validationFailure)
        }
        return (configuration, URL(filePath: path, directoryHint: .isDirectory))
    }
}

/// Reports errors that keep a server from starting: one line on standard error, and the exit code.
enum StartError {
    /// Runs an operation.
    /// - Throws: `ExitCode` in place of an error that is reported in a sentence of its own; any other error unchanged.
    static func reporting(_ operation: () async throws -> Void) async throws {
        do {
            try await operation()
        } catch {
            guard let code = exitCode(of: error) else { throw error }
            throw ExitCode.reporting("\(IntegrityCheck.naming(error))", code)
        }
    }

    /// Returns the exit code of an error (sysexits.h); nil if it has none.
    private static func exitCode(of error: any Error) -> ExitCode? {
        switch error {
        case CertificateError.exists, CertificateError.unwritable, CertificateError.unusableName: .failure
        case is SettingError, is CertificateError, is WebFolder.Unusable, is AccessCheck,
            is ClusterSeal.WrongKey, is JournalError, is FollowsOthers:
            .configuration
        case is CommandProcess.NotStarted: ExitCode(127)
        case is StorageError, is ClusterError, is BackupError, is SandboxError, is CannotListen,
            is Archive.Refusal:
            .failure
        default: nil
        }
    }
}
