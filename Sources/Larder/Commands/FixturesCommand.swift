import ArgumentParser
import Foundation
import HTTPTypes
import Logging
import Sandbox
import Screens
import Upstream

/// `larder fixtures`: lists and compares the recordings of an upstream.
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

    /// Reads the settings and the name of the upstream. Ends the process if there is no such upstream, or if it has no
    /// folder.
    func load(of command: String) throws -> (upstream: UpstreamConfiguration, fixtures: UpstreamFixtures) {
        var settings = settings
        let operands = settings.takeOperands()
        guard operands.count == 1, let name = operands.first else {
            throw ExitCode.reporting(
                "one upstream is expected: larder fixtures \(command) NAME",
                .validationFailure
            )
        }
        let configuration = try settings.load()
        guard let upstream = configuration.upstreams.byName[name] else {
            let known = configuration.upstreams.byName.keys.sorted().joined(separator: ", ")
            throw ExitCode.reporting(
                "there is no upstream \(name) with an address; there are \(known)",
                .validationFailure
            )
        }
        let folder = try FixtureConfiguration(name, configuration).folder
        guard let folder, FileManager.default.fileExists(atPath: folder.path) else {
            let place = folder.map { "there is no folder \($0.path)" } ?? "no folder is set"
            throw ExitCode.reporting("\(place); upstreams.\(name).fixtures names it", .validationFailure)
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

/// `larder fixtures diff NAME`.
struct FixturesDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Ask the API of an upstream again, and show what has changed.",
        usage: "larder fixtures diff NAME [--header <field>]... [--config <file>] [<settings> ...]",
        discussion: """
            Each recorded GET and HEAD is sent to the API. What is changed, missing and
            new in a response is named by its JSON pointer. Other requests are not sent,
            nor are those with a secret in their URL, which recordings do not have.

            Exit code 0: nothing differs. 1: something differs, or a file cannot be used.
            2: a request had no response.

            EXAMPLES
              larder fixtures diff spacex --upstreams-spacex-fixtures ./fixtures/spacex
              larder fixtures diff weather --header "X-API-Key: $KEY" --config l.yaml
            """
    )

    @Option(
        name: .long,
        help: ArgumentHelp("A header field of every request, such as a credential.", valueName: "field")
    )
    var header: [String] = []

    @OptionGroup var options: FixturesOptions

    func run() async throws {
        let (upstream, fixtures) = try options.load(of: "diff")
        let fields = try header.map(Self.field)
        var comparison = FixtureComparison(upstream, fixtures, fields)
        try await HTTPClientTransport.during(connectTimeout: upstream.connectTimeout) {
            try await comparison.run($0)
        }
        StandardOutput.write(comparison.summary)
        if comparison.failures > 0 { throw ExitCode(2) }
        if comparison.differences > 0 || comparison.broken > 0 { throw ExitCode.failure }
    }

    private static func field(_ text: String) throws -> HTTPField {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, let name = HTTPField.Name(parts[0]) else {
            throw ExitCode.reporting("--header is not a field such as 'X-API-Key: value'", .validationFailure)
        }
        return HTTPField(name: name, value: parts[1])
    }
}

/// Sends recorded requests again, and counts the differences.
struct FixtureComparison {
    private let upstream: UpstreamConfiguration
    private let fixtures: UpstreamFixtures
    private let fields: [HTTPField]
    private(set) var (compared, skipped, differences, failures, broken) = (0, 0, 0, 0, 0)

    init(_ upstream: UpstreamConfiguration, _ fixtures: UpstreamFixtures, _ fields: [HTTPField]) {
        (self.upstream, self.fixtures, self.fields) = (upstream, fixtures, fields)
    }

    /// The last line of the list.
    var summary: String {
        let parts = [
            HumanReadable.count(compared, "exchange") + " compared", "\(skipped) not sent",
            "\(failures) without a response", HumanReadable.count(differences, "difference"),
        ]
        return parts.joined(separator: ", ") + "\n"
    }

    /// - Throws: The errors of the file system.
    mutating func run(_ transport: some Transport) async throws {
        let (recorded, broken) = fixtures.exchanges
        self.broken = broken.count
        for text in broken { StandardError.write("larder: \(text)\n") }
        for exchange in recorded {
            guard let request = exchange.request else {
                skipped += 1
                continue
            }
            try await compare(exchange, request, transport)
        }
    }

    private mutating func compare(
        _ exchange: RecordedExchange,
        _ request: FixtureRequest,
        _ transport: some Transport
    ) async throws {
        let isElsewhere = !request.target.hasPrefix("/")
        var headerFields = request.headerFields
        // Credentials are sent to the upstream itself only.
        if !isElsewhere { for field in fields { headerFields[field.name] = field.value } }
        let outgoing = OutgoingRequest(
            method: request.method,
            url: isElsewhere ? request.target : upstream.url(of: request.target),
            headerFields: headerFields
        )
        let limits = TransportLimits(
            total: upstream.totalTimeout,
            maximumBytes: UpstreamFixtures.longestComparison,
            publicAddressesOnly: false
        )
        do throws(UpstreamError) {
            let response = try await transport.exchange(outgoing, within: limits)
            try report(exchange, .success(FixtureResponse(response)))
        } catch {
            try report(exchange, .failure(error))
        }
    }

    private mutating func report(_ exchange: RecordedExchange, _ result: Result<FixtureResponse, UpstreamError>)
        throws(UpstreamError)
    {
        switch result {
        case .failure(let error):
            failures += 1
            StandardOutput.write("\(exchange.file)\n  \(error)\n")
        case .success(let response):
            var found: [FixtureDifference] = []
            try FixtureTransport.storing { () throws in
                found = try fixtures.differences(of: response, from: exchange.file)
            }
            compared += 1
            differences += found.count
            guard !found.isEmpty else { return }
            StandardOutput.write("\(exchange.file)\n" + found.map { "  \($0)\n" }.joined())
        }
    }
}

/// Whether an exchange that seems to contain a secret is recorded and reported, or refused.
enum SuspectedSecrets: String, CaseIterable, Sendable {
    /// Refused if the environment has `CI`.
    case auto
    case report
    case refuse
}

/// The settings of the recordings of an upstream.
struct FixtureConfiguration: Sendable {
    let mode: FixtureMode
    let folder: URL?
    /// Whether an exchange that seems to contain a secret is not recorded.
    let refusesSuspected: Bool

    /// Reads the settings of an upstream.
    ///
    /// - Throws: `SettingError` if the mode needs a folder and none is set.
    init(_ name: String, _ configuration: LarderConfiguration) throws(SettingError) {
        let (own, settings) = (UpstreamSettings(named: name), configuration.settings)
        mode = settings[own.mode]
        folder = settings[own.fixtures]
        let suspected = settings[own.suspectedSecrets]
        refusesSuspected = suspected == .refuse || (suspected == .auto && configuration.isCI)
        guard mode == .live || folder != nil else {
            throw .unacceptable(
                key: own.fixtures.key,
                value: "",
                source: "settings",
                accepted: "the path of a folder, since \(own.mode.key) is \(mode.rawValue)"
            )
        }
    }
}

extension FixtureLibrary {
    /// Creates the recordings of a server's upstreams.
    ///
    /// - Parameter isControlled: Whether tests may set modes while the server runs. If not, live upstreams get no
    ///   recordings.
    init(_ configuration: LarderConfiguration, isControlled: Bool, logger: Logger) throws {
        var upstreams: [UpstreamFixtures] = []
        let secrets = Secrets()
        for upstream in configuration.upstreams.byName.values {
            let fixtures = try FixtureConfiguration(upstream.name, configuration)
            guard isControlled || fixtures.mode != .live else { continue }
            upstreams.append(
                try UpstreamFixtures(
                    name: upstream.name,
                    base: upstream.baseURL.absoluteString,
                    mode: fixtures.mode,
                    folder: fixtures.folder,
                    isReadOnly: configuration.isSpace,
                    refusesSuspected: fixtures.refusesSuspected,
                    secrets: secrets
                ) { logger.warning("fixtures", metadata: ["what": "\($0)"]) }
            )
        }
        self.init(upstreams)
    }
}
