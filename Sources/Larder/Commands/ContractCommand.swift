import ArgumentParser
import Foundation
import Screens

/// `larder contract`: prints the contract of this program.
struct ContractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contract",
        abstract: "Print the contract of this program, an OpenAPI document.",
        discussion: """
            A running server has it at /openapi.yaml.

            EXAMPLES
              larder contract
              larder contract --app ships
              larder contract > openapi.yaml
            """
    )

    @Option(name: .long, help: "Print only the routes of an app.")
    var app: String?

    /// - Throws: `ValidationError` if there is no such app; the errors of ``Contract``.
    func run() throws {
        let contract = Contract(.standard)
        guard let text = try contract.text(of: app, .yaml) else {
            throw ValidationError("there is no \(app ?? ""); there are \(try contract.tags().joined(separator: ", "))")
        }
        StandardOutput.write(String(decoding: text.bytes, as: UTF8.self))
    }
}
