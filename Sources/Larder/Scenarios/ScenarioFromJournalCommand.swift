import ArgumentParser
import Foundation
import JSONValues
import Sandbox
import Upstream

/// `larder scenario from-journal`: makes a scenario from a recorded session.
struct ScenarioFromJournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "from-journal",
        abstract: "Write the journals of a server as a scenario that repeats its requests.",
        discussion: """
            The argument is the address of the controls of a running server, or
            two files: the responses to GET /_harness/journal and GET
            /_sandbox/journal. The scenario sends the same requests, at the same
            times of the clock and with the same faults, and expects the same
            statuses and the same requests to upstreams. Comments name the parts
            that it lacks.

            EXAMPLES
              larder scenario from-journal http://127.0.0.1:9000 > session.yaml
              larder scenario from-journal front.json upstreams.json > session.yaml
            """
    )

    @Argument(help: ArgumentHelp("An address, or two files.", valueName: "journals"))
    var sources: [String]

    func run() async throws {
        let journals: [JSONObject]
        do {
            if sources.count == 1, let address = sources.first, address.hasPrefix("http") {
                journals = try await Self.journals(of: address)
            } else if sources.count == 2 {
                journals = try sources.map { try Self.journal(inFile: $0) }
            } else {
                let expected = "an address such as http://127.0.0.1:9000 is expected, or two files"
                throw ExitCode.reporting(expected, .validationFailure)
            }
        } catch let refusal as Refusal {
            throw ExitCode.reporting(refusal.reason, .unusableInput)
        }
        let routes = ServedRoutes(contract: try AppList.standard.contract().root)
        StandardOutput.write(try ScenarioJournal(front: journals[0], upstreams: journals[1], routes: routes).text)
    }

    /// Why there is no journal.
    private struct Refusal: Error {
        let reason: String
    }

    private static func journal(inFile path: String) throws -> JSONObject {
        let text: String
        do throws(GivenFile.Defect) {
            text = try GivenFile.text(path, atMost: Scenario.largestFile, pipes: true)
        } catch {
            switch error {
            case .missing: throw Refusal(reason: "there is no file \(path)")
            case .tooLong(let limit): throw Refusal(reason: "\(path) has more than \(limit) bytes")
            case .forbidden, .notRead, .notText: throw Refusal(reason: "\(path) cannot be read as a text")
            }
        }
        return try journal(Array(text.utf8), path)
    }

    private static func journal(_ text: [UInt8], _ source: String) throws -> JSONObject {
        guard let journal = JSONValue(json: text)?.object, journal["entries"]?.array != nil else {
            throw Refusal(reason: "\(source) is no journal: it has no entries")
        }
        return journal
    }

    private static func journals(of address: String) async throws -> [JSONObject] {
        let base = address.replacing(/(\/_sandbox)?\/?$/, with: "")
        return try await HTTPClientTransport.during { transport in
            var journals: [JSONObject] = []
            for name in ["_harness", "_sandbox"] {
                let url = "\(base)/\(name)/journal"
                let response = await ScenarioRun.exchange(OutgoingRequest(url: url), transport)
                switch response.status {
                case 0: throw Refusal(reason: "\(url) does not respond: \(response.excerpt)")
                case 200: journals.append(try journal(response.body, url))
                default: throw Refusal(reason: "\(url) responds with \(response.status)")
                }
            }
            return journals
        }
    }
}
