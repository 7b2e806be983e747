import ArgumentParser
import Logging
import Sandbox
import Screens
import ServiceLifecycle
import UnixSignals

/// `larder sandbox`: runs the simulated upstreams without a server.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Serve simulated upstreams on 127.0.0.1, for demonstrations and tests.",
        discussion: """
            EXAMPLES
              larder sandbox --sandbox-port 9000
              curl http://127.0.0.1:9000/_sandbox
              curl -X PUT -d '{"fault":"offline"}' \\
                http://127.0.0.1:9000/_sandbox/upstreams/spacex/fault
              curl -X POST http://127.0.0.1:9000/_sandbox/reset
              larder sandbox --markdown > docs/sandbox-controls.md
            """
    )

    @Flag(name: .long, help: "Print the reference page of the controls in Markdown, and serve nothing.")
    var markdown = false

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        if markdown { return StandardOutput.write(try Sandbox.controlsPage()) }
        StandardStreams.ignoreBrokenPipes()
        let configuration = try options.load()
        LarderLogHandler.bootstrap(configuration)
        let logger = Logger(label: "larder.sandbox")
        let sandbox = Sandbox(
            configuration: .init(
                port: configuration.settings[ServerSettings.sandboxPort],
                seed: configuration.settings[ServerSettings.sandboxSeed],
                documents: configuration.apps.simulations
            ),
            logger: logger
        )
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: sandbox),
                .init(service: Announcement(sandbox: sandbox), successTerminationBehavior: .ignore),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = configuration.settings[HTTPSettings.stopTimeout]
        try await StartError.reporting { [group] in try await ServiceGroup(configuration: group).run() }
    }

    /// Prints the addresses when the sandbox listens, in the same lines as `larder serve --sandbox`.
    private struct Announcement: Service {
        let sandbox: Sandbox

        func run() async throws {
            let address = "http://127.0.0.1:\(try await sandbox.port)"
            StandardOutput.announce("sandbox on \(address)/_sandbox\nlistening on \(address)\n")
        }
    }
}
