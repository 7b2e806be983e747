import ArgumentParser
import Foundation
import Sandbox
import Upstream

/// `larder fixtures`: looks at the recordings of an upstream.
struct FixturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixtures",
        abstract: "List the recordings of an upstream, and compare them with its API.",
        discussion: """
            The folder is that of the setting upstreams.NAME.fixtures.

            EXAMPLES
              larder fixtures list spacex --upstreams-spacex-fixtures ./fixtures/spacex
              larder fixtures diff spacex --config larder.yaml
            """,
        subcommands: [FixturesListCommand.self, FixturesDiffCommand.self]
    )
}

/// Arguments of all subcommands of `larder fixtures`: an upstream, and settings.
struct FixturesOptions: ParsableArguments {
    @OptionGroup var settings: SettingsOptions

    /// Reads the settings, and the one argument that is none. Ends the process if there is no such upstream, or if it
    /// has no folder.
    func load(of command: String) throws -> (upstream: UpstreamConfiguration, fixtures: UpstreamFixtures) {
        var settings = settings
        let operands = settings.takeOperands()
        guard operands.count == 1, let name = operands.first else {
            StandardError.write("larder: one upstream is expected: larder fixtures \(command) NAME\n")
            throw ExitCode.validationFailure
        }
        let configuration = try settings.load()
        guard let upstream = configuration.upstreams.byName[name] else {
            let known = configuration.upstreams.byName.keys.sorted().joined(separator: ", ")
            StandardError.write("larder: there is no upstream \(name) with an address; there are \(known)\n")
            throw ExitCode.validationFailure
        }
        let folder = try FixtureConfiguration(name, configuration.settings).folder
        guard let folder, FileManager.default.fileExists(atPath: folder.path) else {
            let place = folder.map { "there is no folder \($0.path)" } ?? "no folder is set"
            StandardError.write("larder: \(place); upstreams.\(name).fixtures names it\n")
            throw ExitCode.validationFailure
        }
        let fixtures = try UpstreamFixtures(
            name: name,
            base: upstream.baseURL.absoluteString,
            folder: folder,
            report: { _ in }
        )
        return (upstream, fixtures)
    }
}

/// `larder fixtures list NAME`.
struct FixturesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the recorded exchanges of an upstream.",
        usage: "larder fixtures list NAME [--config <file>] [<settings> ...]",
        discussion: """
            Exit code 1: a file cannot be used; its name, the line and the reason are
            written to standard error.

            EXAMPLES
              larder fixtures list spacex --upstreams-spacex-fixtures ./fixtures/spacex
            """
    )

    @OptionGroup var options: FixturesOptions

    func run() async throws {
        let (recorded, broken) = try options.load(of: "list").fixtures.exchanges
        for exchange in recorded { StandardOutput.write("\(exchange.file)  \(exchange.line)\n") }
        for text in broken { StandardError.write("larder: \(text)\n") }
        if !broken.isEmpty { throw ExitCode.failure }
    }
}
