import ArgumentParser
import Foundation
import HTTPTypes
import NIOPosix
import Sandbox
import Upstream

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
        let transport = HTTPClientTransport(eventLoopGroup: .singleton, connectTimeout: upstream.connectTimeout)
        var comparison = FixtureComparison(upstream, fixtures, fields)
        do {
            try await comparison.run(transport)
        } catch {
            try await transport.shutdown()
            throw error
        }
        try await transport.shutdown()
        StandardOutput.write(comparison.summary)
        if comparison.failures > 0 { throw ExitCode(2) }
        if comparison.differences > 0 || comparison.broken > 0 { throw ExitCode.failure }
    }

    private static func field(_ text: String) throws -> HTTPField {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, let name = HTTPField.Name(parts[0]) else {
            StandardError.write("larder: --header is not a field such as 'X-API-Key: value'\n")
            throw ExitCode.validationFailure
        }
        return HTTPField(name: name, value: parts[1])
    }
}

/// Sends recorded requests again, and counts what differs.
struct FixtureComparison {
    private let upstream: UpstreamConfiguration
    private let fixtures: UpstreamFixtures
    private let fields: [HTTPField]
    private(set) var (compared, skipped, differences, failures, broken) = (0, 0, 0, 0, 0)

    init(_ upstream: UpstreamConfiguration, _ fixtures: UpstreamFixtures, _ fields: [HTTPField]) {
        (self.upstream, self.fixtures, self.fields) = (upstream, fixtures, fields)
    }

    /// For the end of the list.
    var summary: String {
        let parts = [
            HumanReadable.count(compared, "exchange") + " compared", "\(skipped) not sent",
            "\(failures) without a response", HumanReadable.count(differences, "difference"),
        ]
        return parts.joined(separator: ", ") + "\n"
    }

    /// Compares all exchanges.
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
        // Credentials are for the upstream itself.
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
