import ArgumentParser
import Certificates
import Foundation
import ResponseStore
import Screens
import Settings

/// `larder pair`: a code for a device.
struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Make a code that pairs a device with the server.",
        discussion: """
            A phone or another machine needs a paired device if http.access is pairing:
            it opens the page /pair of the server and enters the code, which is good for
            ten minutes and once. The server may run; a new code replaces the one before.
            Run it as the user of the server, with the same settings.

            EXAMPLES
              larder pair
              larder pair --profile anna --config /etc/larder/larder.yaml
            """
    )

    @Option(name: .long, help: "The profile that the device gets: whose shopping list and documents.")
    var profile: String = Pairing.standardProfile

    @OptionGroup var options: SettingsOptions

    func run() async throws {
        let configuration = try options.load()
        let http = configuration.http
        guard http.access == .pairing else {
            throw Self.failure("http.access is \(http.access.rawValue): the server asks for no paired devices")
        }
        guard ScreenRequest.isProfile(profile) else {
            throw Self.failure("a profile has \(ScreenRequest.profileForm)")
        }
        guard CacheInspection.exists(at: configuration.dataDirectory) else {
            throw Self.failure("there is no database in \(configuration.dataDirectory.path); start the server first")
        }
        let code = PairingCode.make()
        do {
            let end = Date().addingTimeInterval(PairingCode.lifetime)
            try PairingCodeFile(in: configuration.dataDirectory).leave(code, profile: profile, until: end)
        } catch {
            throw Self.failure("the code cannot be left in \(configuration.dataDirectory.path): \(error)")
        }
        let names = http.certificate.flatMap { try? ServerCertificate($0, protocols: [], now: Date()).names }
        StandardOutput.write(FirstPairing.text(code, at: PairingAddress.origin(of: http, names, port: http.port)))
    }

    private static func failure(_ text: String) -> ExitCode {
        StandardError.write("larder: \(text)\n")
        return .failure
    }
}
